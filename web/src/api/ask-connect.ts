import { api, ask } from "./console-api.ts";

export const getConnectRequest = (id: string) => ask(api.GET("/connect/requests/{id}", { params: { path: { id } } }));

export const getConnectStatus = (id: string) =>
  ask(api.GET("/connect/requests/{id}/status", { params: { path: { id } } }));

/** The state of the browser's permission to reach programs on this computer; null where it knows no such thing. */
export async function readLoopbackPermission(): Promise<PermissionState | null> {
  try {
    // The name is newer than the types of this library.
    const { state } = await navigator.permissions.query({ name: "loopback-network" as PermissionName });
    return state;
  } catch {
    return null;
  }
}

import { api, ask } from "./console-api.ts";

export const getConnectRequest = (id: string) => ask(api.GET("/connect/requests/{id}", { params: { path: { id } } }));

export const getConnectStatus = (id: string) =>
  ask(api.GET("/connect/requests/{id}/status", { params: { path: { id } } }));

/** The browser's local network permission; null where the browser has none. */
export async function readLoopbackPermission(): Promise<PermissionState | null> {
  try {
    // TypeScript's DOM types lack this permission name.
    const { state } = await navigator.permissions.query({ name: "loopback-network" as PermissionName });
    return state;
  } catch {
    return null;
  }
}

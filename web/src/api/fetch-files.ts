import { api, ask } from "./console-api.ts";

const recentMax = 100;

export const getFile = (fileId: string) => ask(api.GET("/files/{file_id}", { params: { path: { file_id: fileId } } }));

export type StoredFile = Awaited<ReturnType<typeof getFile>>;

export const listRecentFiles = () => ask(api.GET("/files", { params: { query: { limit: recentMax } } }));

export const readSound = (fileId: string) =>
  ask(api.GET("/files/{file_id}/content", { params: { path: { file_id: fileId } }, parseAs: "arrayBuffer" }));

/** A file of the site itself. */
export async function readOwnFile(url: string): Promise<Blob> {
  // biome-ignore lint/style/noRestrictedGlobals: the page's own origin.
  const response = await fetch(url);
  if (!response.ok) throw new Error("The sample could not be loaded. Try again.");
  return await response.blob();
}

import type { TaskOutput } from "../../api/fetch-tasks.ts";

type Linked = Pick<TaskOutput, "file_id" | "url">;

/**
 * Links are re-signed with every response. Reuse the first until it is about to expire, so a refresh hits the browser
 * cache.
 */
const links = new Map<string, { path: string; expiresMs: number }>();
const linksMax = 5_000;
const leftMsMin = 60 * 60_000;

/** URL of an output on this origin: the signed link has the public address, and the page may be open under another. */
export function linkOutput({ file_id: fileId, url }: Linked): string {
  const known = links.get(fileId);
  if (known !== undefined && known.expiresMs - Date.now() > leftMsMin) return known.path;
  const { pathname, search, searchParams } = new URL(url);
  const path = `${pathname}${search}`;
  if (links.size >= linksMax) links.clear();
  links.set(fileId, { path, expiresMs: Number(searchParams.get("expires")) * 1000 });
  return path;
}

/** Thumbnail of an image or video. */
export function linkThumbnail(output: Linked): string {
  return linkOutput(output).replace("?", "/thumbnail?");
}

/** The server appends the extension of the actual content. */
export function linkDownload(output: Linked, name: string): string {
  return `${linkOutput(output)}&download=${encodeURIComponent(name)}`;
}

import type { TaskOutput } from "../../api/ask-tasks.ts";

type Linked = Pick<TaskOutput, "file_id" | "url">;

/**
 * Links are signed anew with every answer. The first one is used until it is about to expire, so that a page that is
 * refreshed shows what the browser has already.
 */
const links = new Map<string, { path: string; expiresMs: number }>();
const linksMax = 5_000;
const leftMsMin = 60 * 60_000;

/** Where an output is read. The link names the site's public address; the page may have been opened by another one. */
export function linkOutput({ file_id: fileId, url }: Linked): string {
  const known = links.get(fileId);
  if (known !== undefined && known.expiresMs - Date.now() > leftMsMin) return known.path;
  const { pathname, search, searchParams } = new URL(url);
  const path = `${pathname}${search}`;
  if (links.size >= linksMax) links.clear();
  links.set(fileId, { path, expiresMs: Number(searchParams.get("expires")) * 1000 });
  return path;
}

/** A small picture of an image or a video. */
export function linkThumbnail(output: Linked): string {
  return linkOutput(output).replace("?", "/thumbnail?");
}

/** The server adds the ending that belongs to what is in the file. */
export function linkDownload(output: Linked, name: string): string {
  return `${linkOutput(output)}&download=${encodeURIComponent(name)}`;
}

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

export type SiteFile = { type: string; plain: Buffer; brotli: Buffer | null; gzip: Buffer | null };
/**
 * A page's document beyond the shell: preloads, and the prerendered body (empty for some). Kept compressed, since there
 * are more than a hundred.
 */
export type SitePage = {
  links: string;
  /** Body for a request without search parameters. */
  plainLinks: string;
  readBody(): string;
};
/** Markup of slots that depend on what the operator has set. */
export type PageParts = { mark: string; announcements: Record<string, string> };
export type SiteFiles = {
  shell: string;
  /** By path. */
  pages: ReadonlyMap<string, SitePage>;
  parts: PageParts;
  assets: ReadonlyMap<string, SiteFile>;
};

/** Output of scripts/build-web.ts. */
const builtDir = join(import.meta.dirname, "../../../dist/web");

/** Renders the data of `/status`. */
export const statusProgramPath = join(builtDir, "render-status.mjs");

export const contentTypes: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

let builtSite: SiteFiles | null = null;

/**
 * The built site in memory (a few megabytes, shared by the servers of a process), so no request reads a file. Without a
 * build, the gateway serves only its API.
 */
export function readBuiltSite(): SiteFiles | null {
  builtSite ??= readSiteFiles(builtDir);
  return builtSite;
}

export function readSiteFiles(directory: string): SiteFiles | null {
  const shellPath = join(directory, "index.html");
  if (!existsSync(shellPath)) return null;
  const assetsDir = join(directory, "assets");
  const names = existsSync(assetsDir) ? readdirSync(assetsDir) : [];
  const assets = new Map<string, SiteFile>();
  for (const name of names) {
    const type = contentTypes[extname(name)];
    if (type === undefined) continue;
    const path = join(assetsDir, name);
    assets.set(name, {
      type,
      plain: readFileSync(path),
      brotli: readIfThere(`${path}.br`),
      gzip: readIfThere(`${path}.gz`),
    });
  }
  const shell = readFileSync(shellPath, "utf8");
  return { shell, ...readPages(join(directory, "pages.json")), assets };
}

function readPages(path: string): Pick<SiteFiles, "pages" | "parts"> {
  const text = readIfThere(path)?.toString("utf8") ?? '{"pages":{},"parts":{"mark":"","announcements":{}}}';
  // Written by our own build.
  const { pages, parts } = JSON.parse(text) as { pages: Record<string, StoredPage>; parts: PageParts };
  return { pages: new Map(Object.entries(pages).map(([path, page]) => [path, openPage(page)])), parts };
}

/** The compressed body as text. */
type StoredPage = { links: string; plainLinks: string; body: string };

function openPage({ body, ...links }: StoredPage): SitePage {
  const packed = Buffer.from(body, "base64");
  return { ...links, readBody: () => (packed.length === 0 ? "" : brotliDecompressSync(packed).toString("utf8")) };
}

function readIfThere(path: string): Buffer | null {
  return existsSync(path) ? readFileSync(path) : null;
}

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

export type SiteFile = { type: string; plain: Buffer; brotli: Buffer | null; gzip: Buffer | null };
/**
 * What the document of a page has beyond the shell: what the page will need, and how it looks before that has come, which is
 * empty for some. They are kept as small as they are stored: there are more than a hundred.
 */
export type SitePage = {
  links: string;
  /** For who is sent the page, at an address without a search. */
  plainLinks: string;
  readBody(): string;
};
/** What is shown in a page's slots, where that depends on which of them an operator has filled. */
export type PageParts = { mark: string; announcements: Record<string, string> };
export type SiteFiles = {
  shell: string;
  /** By their paths. */
  pages: ReadonlyMap<string, SitePage>;
  parts: PageParts;
  assets: ReadonlyMap<string, SiteFile>;
};

/** Where scripts/build-web.ts puts what it builds. */
const builtDir = join(import.meta.dirname, "../../../dist/web");

export const contentTypes: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".jpg": "image/jpeg",
  ".js": "text/javascript; charset=utf-8",
  ".mp4": "video/mp4",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
};

/**
 * The built site, whole and in memory: it is a few megabytes at most, so that no request reads a file. Without a build
 * there is none, and the gateway serves its API all the same.
 */
export function readSiteFiles(directory: string = builtDir): SiteFiles | null {
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
  // Our own build wrote it.
  const { pages, parts } = JSON.parse(text) as { pages: Record<string, StoredPage>; parts: PageParts };
  return { pages: new Map(Object.entries(pages).map(([path, page]) => [path, openPage(page)])), parts };
}

/** Its body is compressed, and written as text. */
type StoredPage = { links: string; plainLinks: string; body: string };

function openPage({ body, ...links }: StoredPage): SitePage {
  const packed = Buffer.from(body, "base64");
  return { ...links, readBody: () => (packed.length === 0 ? "" : brotliDecompressSync(packed).toString("utf8")) };
}

function readIfThere(path: string): Buffer | null {
  return existsSync(path) ? readFileSync(path) : null;
}

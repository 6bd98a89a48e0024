import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";

/** The exports of `web/src/prerender.tsx`. */
type Prerender = {
  prerenderPage(path: string): Promise<string>;
  prerenderParts(): PrerenderedParts;
  listDocsPages(): DocsPage[];
};

type PrerenderedParts = { mark: string; announcements: Record<string, string> };

/** One of many pages of a route. `source`: the build's name of the file that contains its content. */
type DocsPage = { path: string; route: string; source: string | null };

type PrerenderedSite = {
  bodies: ReadonlyMap<string, string>;
  docsPages: readonly DocsPage[];
  parts: PrerenderedParts;
};

/**
 * Prerenders the given paths and all pages of guide and reference in their loading state, so they show before the scripts
 * load. Slots mark the operator's name, links, announcement and addresses, which the server fills in.
 */
export async function prerenderSite(
  configFile: string,
  { paths, temporaryDir }: { paths: readonly string[]; temporaryDir: string },
): Promise<PrerenderedSite> {
  const outDir = mkdtempSync(join(temporaryDir, "prerender-"));
  try {
    await build({
      configFile,
      logLevel: "error",
      ssr: { noExternal: true },
      build: { outDir, emptyOutDir: true, ssr: "src/prerender.tsx", copyPublicDir: false },
    });
    // Pages that read `location` get a slot, which the server fills in.
    Reflect.set(globalThis, "location", { origin: "%site-url%" });
    // The build's output has no types.
    const program = (await import(pathToFileURL(join(outDir, "prerender.js")).href)) as Prerender;
    const docsPages = program.listDocsPages();
    const bodies = new Map<string, string>();
    for (const path of [...paths, ...docsPages.map((page) => page.path)]) {
      const body = withoutPreloads(await program.prerenderPage(path));
      if (!body.includes("<h1")) throw new Error(`${path} cannot be rendered without a browser.`);
      // `inert` until hydration, so no input is lost. Landing and status page have none, and links that work without scripts.
      bodies.set(path, path === "/" || path === "/status" ? body : `<div inert>${body}</div>`);
    }
    return { bodies, docsPages, parts: program.prerenderParts() };
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** Removes React's image preloads; the head already lists the page's own. */
function withoutPreloads(markup: string): string {
  return markup.replace(/^(<link rel="preload"[^>]*>)+/, "");
}

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";

/** What `web/src/prerender.tsx` exports. */
type Prerender = {
  prerenderPage(path: string): Promise<string>;
  prerenderParts(): PrerenderedParts;
  listDocsPages(): DocsPage[];
};

type PrerenderedParts = { mark: string; announcements: Record<string, string> };

/** One of many pages of a route; `source` is the part of the site's files that it shows, as the build names it. */
type DocsPage = { path: string; route: string; source: string | null };

type PrerenderedSite = {
  bodies: ReadonlyMap<string, string>;
  docsPages: readonly DocsPage[];
  parts: PrerenderedParts;
};

/**
 * Pages as they are before anything that they ask for has come, by their paths; the server sends them, so that nobody
 * waits for a script to see them: those at the given paths, and all of guide and reference. Where the operator's name, links,
 * announcement and addresses belong, they have slots.
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
    // Pages that ask where they are get a slot, which the server fills.
    Reflect.set(globalThis, "location", { origin: "%site-url%" });
    // The build's own output, whose types nothing else can know.
    const program = (await import(pathToFileURL(join(outDir, "prerender.js")).href)) as Prerender;
    const docsPages = program.listDocsPages();
    const bodies = new Map<string, string>();
    for (const path of [...paths, ...docsPages.map((page) => page.path)]) {
      const body = withoutPreloads(await program.prerenderPage(path));
      if (!body.includes("<h1")) throw new Error(`${path} cannot be rendered without a browser.`);
      // Where nothing can be done before the program has come, nothing can be pressed that would be forgotten by it.
      bodies.set(path, path === "/" ? body : `<div inert>${body}</div>`);
    }
    return { bodies, docsPages, parts: program.prerenderParts() };
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** What a page needs early stands in its head; the renderer would have every image be loaded before all else. */
function withoutPreloads(markup: string): string {
  return markup.replace(/^(<link rel="preload"[^>]*>)+/, "");
}

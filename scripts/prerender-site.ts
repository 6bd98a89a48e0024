import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "vite";

/** What `web/src/prerender.tsx` exports. */
type Prerender = {
  prerenderPage(path: string): Promise<string>;
  prerenderParts(): PrerenderedParts;
};

export type PrerenderedParts = { mark: string; announcements: Record<string, string> };

/**
 * Pages as they are before anything that they ask for has come, by their paths; the server sends them, so that nobody
 * waits for a script to see them. Where the operator's name, links and announcement belong, they have slots.
 */
export async function prerenderSite(
  configFile: string,
  { paths, temporaryDir }: { paths: readonly string[]; temporaryDir: string },
): Promise<{ bodies: Map<string, string>; parts: PrerenderedParts }> {
  const outDir = mkdtempSync(join(temporaryDir, "prerender-"));
  try {
    await build({
      configFile,
      logLevel: "error",
      ssr: { noExternal: true },
      build: { outDir, emptyOutDir: true, ssr: "src/prerender.tsx", copyPublicDir: false },
    });
    // Pages that ask where they are get an answer; none that is rendered here shows it.
    Reflect.set(globalThis, "location", new URL("http://localhost/"));
    // The build's own output, whose types nothing else can know.
    const program = (await import(pathToFileURL(join(outDir, "prerender.js")).href)) as Prerender;
    const bodies = new Map<string, string>();
    for (const path of paths) {
      const body = withoutPreloads(await program.prerenderPage(path));
      if (!body.includes("<h1")) throw new Error(`${path} cannot be rendered without a browser.`);
      // Where nothing can be done before the program has come, nothing can be pressed that would be forgotten by it.
      bodies.set(path, path === "/" ? body : `<div inert>${body}</div>`);
    }
    return { bodies, parts: program.prerenderParts() };
  } finally {
    rmSync(outDir, { recursive: true, force: true });
  }
}

/** What a page needs early stands in its head; the renderer would have every image be loaded before all else. */
function withoutPreloads(markup: string): string {
  return markup.replace(/^(<link rel="preload"[^>]*>)+/, "");
}

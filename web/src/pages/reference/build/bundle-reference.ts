import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";
import { parseMarkdown } from "../../guide/parse-document.ts";
import { type Area, findFirstCall, listDocsEntries, listEntries, presentReference } from "./present-reference.ts";

const docsDir = join(import.meta.dirname, "../../../../../docs/api");
const areaPrefix = "virtual:reference/";

/**
 * Splits the OpenAPI document into virtual modules: contents, one per area, and the search index. A page loads only the
 * part it shows.
 */
export function bundleReference(): Plugin {
  let reading: Promise<Area[]> | null = null;
  const readAreas = () => (reading ??= readReference());
  return {
    name: "reference",
    resolveId: (id) => (/^virtual:(reference(\/|$)|docs-index$|first-call$)/.test(id) ? `\0${id}` : null),
    async load(id) {
      if (id === "\0virtual:reference") return writeModule(writeContents(await readAreas()));
      if (id === "\0virtual:first-call") {
        return writeModule(`export const firstCall = ${JSON.stringify(findFirstCall(await readAreas()))};`);
      }
      if (id === "\0virtual:docs-index") return writeModule(await writeIndex(await readAreas()));
      if (!id.startsWith(`\0${areaPrefix}`)) return null;
      const slug = id.slice(areaPrefix.length + 1);
      const area = (await readAreas()).find((candidate) => candidate.slug === slug);
      return area === undefined ? null : writeModule(`export const operations = ${JSON.stringify(area.operations)};`);
    },
  };
}

function writeModule(code: string) {
  return { code, moduleType: "js" as const };
}

function writeContents(areas: readonly Area[]): string {
  const loaders = areas.map(({ slug }) => `"${slug}": () => import("${areaPrefix}${slug}")`);
  return `export const areas = ${JSON.stringify(listEntries(areas))};
export const loaders = { ${loaders.join(", ")} };`;
}

async function writeIndex(areas: readonly Area[]): Promise<string> {
  const names = (await readdir(docsDir)).filter((name) => name.endsWith(".md")).toSorted();
  const chapters = await Promise.all(
    names.map(async (name) => ({ id: name.slice(0, -".md".length), blocks: await readChapter(name) })),
  );
  return `export const entries = ${JSON.stringify(listDocsEntries(areas, chapters))};`;
}

async function readReference(): Promise<Area[]> {
  const document = JSON.parse(await readFile(join(docsDir, "openapi.json"), "utf8"));
  return presentReference(document, await readChapter("errors.md"));
}

async function readChapter(name: string) {
  return parseMarkdown(await readFile(join(docsDir, name), "utf8"));
}

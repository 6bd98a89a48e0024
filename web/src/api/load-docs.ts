import { connection } from "./console-api.ts";
import type { Block } from "./guide-document.ts";
import type { DocsEntry, Operation } from "./reference-document.ts";

/** Docs ship with the site's own files. The query key is the id: functions cannot be part of a key. */
type Lazy<Module> = { id: string; load(): Promise<Module> };

export async function loadChapter(chapter: Lazy<{ blocks: Block[] }>): Promise<Block[]> {
  return (await loadPart(chapter.load)).blocks;
}

export async function loadArea(area: Lazy<{ operations: Operation[] }>): Promise<Operation[]> {
  return (await loadPart(area.load)).operations;
}

/** The search index of guide and reference. */
export async function loadDocsIndex(): Promise<DocsEntry[]> {
  return (await loadPart(() => import("virtual:docs-index"))).entries;
}

async function loadPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    connection.suspect();
    throw new Error("This part could not be loaded. Reload the page to get the latest version.", { cause });
  }
}

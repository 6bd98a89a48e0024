import { connection } from "./console-api.ts";
import type { Block } from "./guide-document.ts";
import type { DocsEntry, Operation } from "./reference-document.ts";

/** A part of guide or reference, which comes with the site's own files. Its key is its id: functions are no part of keys. */
type Lazy<Module> = { id: string; load(): Promise<Module> };

export async function loadChapter(chapter: Lazy<{ blocks: Block[] }>): Promise<Block[]> {
  return (await loadPart(chapter.load)).blocks;
}

/** The operations of an area of the reference. */
export async function loadArea(area: Lazy<{ operations: Operation[] }>): Promise<Operation[]> {
  return (await loadPart(area.load)).operations;
}

/** Everything of guide and reference that has a name. */
export async function loadDocsIndex(): Promise<DocsEntry[]> {
  return (await loadPart(() => import("virtual:docs-index"))).entries;
}

async function loadPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    connection.suspect();
    throw new Error("This part could not be loaded. If the site was updated, reloading the page helps.", { cause });
  }
}

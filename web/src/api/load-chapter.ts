import { connection } from "./console-api.ts";
import type { Block } from "./guide-document.ts";

type LazyChapter = { id: string; load(): Promise<{ blocks: Block[] }> };

/** A chapter of the guide, which comes with the site's own files. Its key is its id: functions are no part of keys. */
export async function loadChapter({ load }: LazyChapter): Promise<Block[]> {
  try {
    return (await load()).blocks;
  } catch (cause) {
    connection.suspect();
    throw new Error("The chapter could not be loaded. If the site was updated, reloading the page helps.", { cause });
  }
}

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CatalogFile, parseCatalog } from "../../catalog/index.ts";

/** A vendor with its models and suggested prices, as it comes with Sluice. */
export type ReadyCatalog = { id: string; file: CatalogFile };

const folder = join(import.meta.dirname, "../../../../catalogs");
const extension = ".yaml";

let read: Promise<ReadyCatalog[]> | undefined;

/** Read once: the files come with the program. */
export function listReadyCatalogs(): Promise<ReadyCatalog[]> {
  read ??= readAll();
  return read;
}

async function readAll(): Promise<ReadyCatalog[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(extension)).toSorted();
  const parsed = await Promise.all(
    names.map(async (name) => {
      const result = parseCatalog(await readFile(join(folder, name), "utf8"));
      return result.kind === "parsed" ? [{ id: name.slice(0, -extension.length), file: result.file }] : [];
    }),
  );
  return parsed.flat();
}

export async function findReadyCatalog(id: string): Promise<ReadyCatalog | null> {
  return (await listReadyCatalogs()).find((one) => one.id === id) ?? null;
}

import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StorageSettings } from "./open-byte-store.ts";

const idLength = 12;
/** Cannot collide with a key: segments do not begin with a dot. */
const idName = ".store-id";

/**
 * Identifies the storage: equal for gateways that share it. A folder is identified by an id file in it, because machines
 * may mount a shared folder at different paths, or separate folders at the same path.
 */
export async function identifyStorage(
  { data_dir, s3_bucket, s3_endpoint = "" }: StorageSettings,
  randomBytes: (count: number) => Uint8Array,
): Promise<string> {
  if (s3_bucket !== undefined) return hash(`${s3_endpoint}\n${s3_bucket}`);
  const folder = join(data_dir, "files");
  const path = join(folder, idName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fresh = Buffer.from(randomBytes(16)).toString("hex");
  try {
    await writeFile(path, fresh, { flag: "wx", mode: 0o600 });
    return hash(fresh);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return hash(await readFile(path, "utf8"));
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, idLength);
}

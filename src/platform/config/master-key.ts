import { hkdfSync } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors/operator-error.ts";

/** The one secret of a deployment. Nobody uses it itself: every purpose has a key of its own that follows from it. */
export type MasterKey = {
  /** 32 bytes that are always the same for the purpose, and tell nothing of those for another. */
  derive(purpose: string): Buffer;
};

const keyBytes = 32;
const charactersMin = 32;
const fileName = "secret.key";

/** The key of the settings, or the one in the data folder, which is made where there is none. */
export async function openMasterKey(
  { secret_key, data_dir }: { secret_key?: string | undefined; data_dir: string },
  randomBytes: (count: number) => Uint8Array,
): Promise<MasterKey> {
  const secret = secret_key ?? (await readOrMakeSecret(data_dir, randomBytes));
  if (secret.length < charactersMin) {
    throw new OperatorError(
      `The secret key has ${secret.length} characters, which is too few to keep a secret.`,
      `Set secret_key to at least ${charactersMin} random characters, or remove it to use the one in ${data_dir}.`,
    );
  }
  return { derive: (purpose) => Buffer.from(hkdfSync("sha256", secret, "sluice", purpose, keyBytes)) };
}

/** Of several processes that start at once, one makes the file and all use it. */
async function readOrMakeSecret(folder: string, randomBytes: (count: number) => Uint8Array): Promise<string> {
  const path = join(folder, fileName);
  const known = await readSecret(path);
  if (known !== null) return known;
  await mkdir(folder, { recursive: true });
  const mark = Buffer.from(randomBytes(6)).toString("hex");
  const draft = `${path}.${mark}`;
  await writeFile(draft, Buffer.from(randomBytes(keyBytes)).toString("base64url"), { mode: 0o600, flush: true });
  try {
    // A link appears with its whole content, or not at all where there is one already.
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readSecret(path)) ?? "";
}

async function readSecret(path: string): Promise<string | null> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

import { hkdfSync } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors/operator-error.ts";

/** The one secret of a deployment. Nobody uses it itself: every purpose has a key of its own that follows from it. */
export type MasterKey = {
  /** 32 bytes that are always the same for the purpose, and tell nothing of those for another. */
  derive(purpose: string): Buffer;
};

type SecretSettings = { secret_key?: string | undefined; data_dir: string };

const keyBytes = 32;
const charactersMin = 32;
const fileName = "secret.key";

/** The key of the settings, or the one in the data folder, which is made where there is none. */
export async function openMasterKey(
  { secret_key, data_dir }: SecretSettings,
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

async function readOrMakeSecret(folder: string, randomBytes: (count: number) => Uint8Array): Promise<string> {
  const known = await readSecret(join(folder, fileName));
  if (known !== null) return known;
  await placeSecret(folder, Buffer.from(randomBytes(keyBytes)).toString("base64url"), randomBytes);
  return (await readSecret(join(folder, fileName))) ?? "";
}

/** Puts a secret into the data folder, unless there is one. Of several processes that start at once, one makes the file. */
export async function placeSecret(
  folder: string,
  secret: string,
  randomBytes: (count: number) => Uint8Array,
): Promise<void> {
  const path = join(folder, fileName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const mark = Buffer.from(randomBytes(6)).toString("hex");
  const draft = `${path}.${mark}`;
  await writeFile(draft, secret, { mode: 0o600, flush: true });
  try {
    // A link appears with its whole content, or not at all where there is one already.
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** The secret that a gateway with these settings would use; `null` where it would make one. */
export async function findSecret({ secret_key, data_dir }: SecretSettings): Promise<string | null> {
  return secret_key ?? (await readSecret(join(data_dir, fileName)));
}

/** Tells whether two secrets are the same, and nothing else of them. */
export function fingerprintSecret(secret: string): string {
  return Buffer.from(hkdfSync("sha256", secret, "sluice", "fingerprint", 16)).toString("hex");
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

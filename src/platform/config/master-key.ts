import { hkdfSync } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../errors/operator-error.ts";

/** The secret of a deployment. It is never used directly: each purpose derives its own key (HKDF). */
export type MasterKey = {
  /** 32 bytes, always the same for a purpose; keys of different purposes are independent. */
  derive(purpose: string): Buffer;
};

type SecretSettings = { secret_key?: string | undefined; data_dir: string };

const keyBytes = 32;
const charactersMin = 32;
const fileName = "secret.key";

/** Uses `secret_key`, else the key in the data folder, which is generated on the first start. */
export async function openMasterKey(
  { secret_key, data_dir }: SecretSettings,
  randomBytes: (count: number) => Uint8Array,
): Promise<MasterKey> {
  const secret = secret_key ?? (await readOrMakeSecret(data_dir, randomBytes));
  if (secret.length < charactersMin) {
    throw new OperatorError(
      `The secret key has ${secret.length} characters, which is too few.`,
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

/** Writes a secret to the data folder unless one exists. Safe with several processes at once. */
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
    // link() is atomic: the file appears with its whole content, or EEXIST.
    await link(draft, path);
  } catch (error) {
    if (!isCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** The secret that a gateway with these settings would use, or `null` if it would generate one. */
export async function findSecret({ secret_key, data_dir }: SecretSettings): Promise<string | null> {
  return secret_key ?? (await readSecret(join(data_dir, fileName)));
}

/** Compares secrets without revealing them. */
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

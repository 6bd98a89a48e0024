import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "./cli-error.ts";

/** A server you are signed in to. */
export type Profile = { site: string; apiUrl: string; key: string };

export type Credentials = {
  /** The default site. */
  current: string | null;
  profiles: readonly Profile[];
};

const noCredentials: Credentials = { current: null, profiles: [] };
const othersMay = 0o077;

export function nameCredentialsFile(folder: string): string {
  return join(folder, "credentials.json");
}

/** Sets mode 0600 first if other users can read the file. */
export async function loadCredentials(folder: string): Promise<Credentials> {
  const path = nameCredentialsFile(folder);
  try {
    if (((await stat(path)).mode & othersMay) !== 0) await chmod(path, 0o600);
    return parseCredentials(JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return noCredentials;
    const message = `Cannot read ${path}: ${error instanceof Error ? error.message : error}`;
    throw new CliError(message, { remedy: "Fix or delete it, then run: sluice login", cause: error });
  }
}

function parseCredentials(value: unknown): Credentials {
  const { current, profiles } = value as { current?: unknown; profiles?: unknown };
  if (!Array.isArray(profiles) || !profiles.every(isProfile)) throw new Error("the format is invalid");
  return { current: typeof current === "string" ? current : null, profiles };
}

function isProfile(value: unknown): value is Profile {
  const profile = value as Partial<Record<keyof Profile, unknown>> | null;
  return [profile?.site, profile?.apiUrl, profile?.key].every((text) => typeof text === "string");
}

/** Written atomically with mode 0600. */
async function saveCredentials(folder: string, credentials: Credentials): Promise<void> {
  const path = nameCredentialsFile(folder);
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    await writeFile(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    const message = `Cannot write ${path}: ${error instanceof Error ? error.message : error}`;
    const remedy = "No changes. Free disk space, or set XDG_CONFIG_HOME to another folder.";
    throw new CliError(message, { remedy, cause: error });
  }
}

/** Stores the profile as the current one and replaces an earlier one of the same site. */
export async function keepProfile(folder: string, profile: Profile): Promise<void> {
  const { profiles } = await loadCredentials(folder);
  const others = profiles.filter(({ site }) => site !== profile.site);
  await saveCredentials(folder, { current: profile.site, profiles: [...others, profile] });
}

/** Returns whether the site had a profile. */
export async function forgetProfile(folder: string, site: string): Promise<boolean> {
  const { current, profiles } = await loadCredentials(folder);
  const others = profiles.filter((profile) => profile.site !== site);
  if (others.length === profiles.length) return false;
  const next = current === site ? (others.at(-1)?.site ?? null) : current;
  await saveCredentials(folder, { current: next, profiles: others });
  return true;
}

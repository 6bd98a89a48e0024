import { readFileSync } from "node:fs";

/** Two caches with this time, of files and of used references: a new secret is in use within a second. */
const freshMs = 500;

type KeptSecret = { value: string; readAtMs: number };

const keptByPath = new Map<string, KeptSecret>();
const usedByReference = new Map<string, KeptSecret>();

/** Whether the environment has a value for the variable. */
export function hasSecret(name: string): boolean {
  return readSecret(name) !== "";
}

const referencePattern = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** The variable name in a reference such as `${NAME}`, or `null` if the text is not a reference. */
export function readReference(text: string): string | null {
  return referencePattern.exec(text)?.[1] ?? null;
}

export function presentReference(name: string): string {
  return `\${${name}}`;
}

/** Where upstreams' secrets come from. Each function takes a reference `${NAME}`; other texts are values themselves. */
export type SecretReader = {
  /** `null` if the secret is missing or unreadable. */
  find(text: string): string | null;
  /** The value to send; records that it was used. Call it for each use: the secret may change. */
  use(text: string): string | null;
  /** Whether it is stored, but sealed with another key. */
  isUnreadable(text: string): boolean;
  /** The values that recent calls may have sent, which no error text may repeat. */
  listSent(text: string): readonly string[];
};

/** The secrets of the environment alone. */
export const environmentSecrets: SecretReader = {
  find: resolveSecret,
  use: resolveForUse,
  isUnreadable: () => false,
  listSent(text) {
    const value = resolveSecret(text);
    return value === null ? [] : [value];
  },
};

/**
 * Resolves a reference `${NAME}` to the variable `NAME` or to the content of the file in `NAME_FILE`; `null` if neither
 * is set. Resolve on each use: the file may change.
 */
export function resolveSecret(text: string): string | null {
  const name = readReference(text);
  if (name === null) return text;
  const value = readSecret(name);
  return value === "" ? null : value;
}

/** For each call: reading a variable of the environment takes a microsecond. */
function resolveForUse(text: string): string | null {
  const readAtMs = performance.now();
  const known = usedByReference.get(text);
  if (known !== undefined && readAtMs - known.readAtMs < freshMs) return known.value;
  const value = resolveSecret(text);
  if (value === null) usedByReference.delete(text);
  else usedByReference.set(text, { value, readAtMs });
  return value;
}

function readSecret(name: string): string {
  const value = process.env[name] ?? "";
  if (value !== "") return value;
  const path = process.env[`${name}_FILE`] ?? "";
  return path === "" ? "" : readSecretFile(path);
}

function readSecretFile(path: string): string {
  const known = keptByPath.get(path);
  const readAtMs = performance.now();
  if (known !== undefined && readAtMs - known.readAtMs < freshMs) return known.value;
  const value = readText(path) ?? known?.value ?? "";
  keptByPath.set(path, { value, readAtMs });
  return value;
}

/** `null` for a missing or empty file, which may be in the middle of a replacement. */
function readText(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8").trim();
    return text === "" ? null : text;
  } catch {
    // Callers report a missing secret.
    return null;
  }
}

import { readFileSync } from "node:fs";

/** How long what a file said is good for: a call may ask for it, and a new secret is in use soon after it is written. */
const freshMs = 1000;

type KeptSecret = { value: string; readAtMs: number };

const keptByPath = new Map<string, KeptSecret>();

/** Whether the environment has a value for a secret that a catalog names. */
export function hasSecret(name: string): boolean {
  return readSecret(name) !== "";
}

const referencePattern = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** The name of the variable that a text refers to, `${LIKE_THIS}`; `null` where the text is no reference. */
export function readReference(text: string): string | null {
  return referencePattern.exec(text)?.[1] ?? null;
}

/**
 * The text with the environment variable that it names, `${LIKE_THIS}`, in its place, or with the content of the file that
 * `LIKE_THIS_FILE` names; `null` when neither is set. To be asked anew for each use: a file may change.
 */
export function resolveSecret(text: string): string | null {
  const name = readReference(text);
  if (name === null) return text;
  const value = readSecret(name);
  return value === "" ? null : value;
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

/** `null` where there is nothing: whoever replaces a file may have taken the old one away first. */
function readText(path: string): string | null {
  try {
    const text = readFileSync(path, "utf8").trim();
    return text === "" ? null : text;
  } catch {
    // What follows from a secret that is missing is told by whoever needs it.
    return null;
  }
}

/** Whether the environment has a value for a secret that a catalog names. */
export function hasSecret(name: string): boolean {
  return (process.env[name] ?? "") !== "";
}

/** The text with the environment variable that it names, `${LIKE_THIS}`, in its place; `null` when that is not set. */
export function resolveSecret(text: string): string | null {
  const name = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text)?.[1];
  if (name === undefined) return text;
  const value = process.env[name] ?? "";
  return value === "" ? null : value;
}

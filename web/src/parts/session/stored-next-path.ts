const name = "sluice.next";
/** As long as a program's authorization request lives: ten minutes. */
const rememberedMs = 10 * 60_000;

/** The path to return to, shared by all tabs: an e-mail link may open another one. */
export function storeNextPath(path: string): void {
  localStorage.setItem(name, JSON.stringify({ path, untilMs: Date.now() + rememberedMs }));
}

/** Returned once, and only before it expires. */
export function takeStoredNextPath(): string | undefined {
  const kept = localStorage.getItem(name);
  localStorage.removeItem(name);
  if (kept === null) return undefined;
  const { path, untilMs } = JSON.parse(kept) as { path: string; untilMs: number };
  return Date.now() < untilMs ? path : undefined;
}

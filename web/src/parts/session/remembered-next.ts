const name = "sluice.next";
/** As long as what waits for it: a program that asks for a key gives up after ten minutes. */
const rememberedMs = 10 * 60_000;

/** Where somebody wanted to go. A mail may lie in between, which opens another tab: so every tab knows. */
export function rememberNext(path: string): void {
  localStorage.setItem(name, JSON.stringify({ path, untilMs: Date.now() + rememberedMs }));
}

/** Once, and not too late. */
export function takeRememberedNext(): string | undefined {
  const kept = localStorage.getItem(name);
  localStorage.removeItem(name);
  if (kept === null) return undefined;
  const { path, untilMs } = JSON.parse(kept) as { path: string; untilMs: number };
  return Date.now() < untilMs ? path : undefined;
}

/** How many targets a request is sent to, one after another, before it is given up. */
export const attemptsMax = 3;

/** Where a call can go, as far as choosing among them needs to know. */
export type Choosable = { route: { priority: number; weight: number }; provider: { api_keys?: readonly string[] } };

export type Choice<T> =
  | { kind: "chosen"; target: T }
  /** Nothing can be called now; something could in so many milliseconds, `null` when everything was tried. */
  | { kind: "none"; retryAfterMs: number | null };

/**
 * One of the targets that were not tried yet and may be called now: of the lowest priority, by chance, in proportion to
 * the weights of the routes. The keys of a route share its weight.
 */
export function chooseTarget<T extends Choosable>(
  targets: readonly T[],
  { tried, waitMs, random }: { tried: readonly T[]; waitMs(target: T): number; random(): number },
): Choice<T> {
  const [only] = targets;
  if (targets.length === 1 && only !== undefined && tried.length === 0 && waitMs(only) === 0) {
    return { kind: "chosen", target: only };
  }
  const untried = targets.filter((target) => !tried.includes(target));
  const ready = untried.filter((target) => waitMs(target) === 0);
  if (ready.length === 0) {
    return { kind: "none", retryAfterMs: untried.length === 0 ? null : Math.min(...untried.map(waitMs)) };
  }
  const first = Math.min(...ready.map(({ route }) => route.priority));
  const candidates = ready.filter(({ route }) => route.priority === first);
  let mark = random() * candidates.reduce((sum, target) => sum + weigh(target), 0);
  for (const target of candidates) {
    mark -= weigh(target);
    if (mark < 0) return { kind: "chosen", target };
  }
  // Rounding can leave a trace of the mark; it belongs to the last.
  return { kind: "chosen", target: candidates[candidates.length - 1] ?? (ready[0] as T) };
}

function weigh({ route, provider }: Choosable): number {
  return route.weight / (provider.api_keys?.length ?? 1);
}

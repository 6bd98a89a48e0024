import { mixHashes } from "../lib/text-hash.ts";

/** How many targets a call is sent to, one after another, before it is given up. */
export const attemptsMax = 5;
/** How many of them may be of one provider: where it fails with two keys or models, the next provider is likelier to answer. */
const attemptsPerProviderMax = 2;

/** Where a call can go, as far as choosing among them needs to know. */
export type Choosable = {
  providerId: string;
  route: { priority: number; weight: number };
  provider: { api_keys?: readonly string[] };
  /** A number of its own, which stays the same while other targets come and go. */
  placeHash: number;
};

/** Calls that belong together have the same number; asked for only where there is something to choose. */
type Related = { findAffinity?(): number };

export type Choice<T> =
  | { kind: "chosen"; target: T }
  /** Nothing can be called now; something could in so many milliseconds, `null` when everything was tried. */
  | { kind: "none"; retryAfterMs: number | null };

type Circumstances<T> = {
  tried: readonly T[];
  waitMs(target: T): number;
  random(): number;
  /** What is to be called; without it, or without a number of its own, chance decides. */
  call?: Related;
};

/**
 * One of the targets that were not tried yet and may be called now: of the lowest priority, in proportion to the weights of
 * the routes. The keys of a route share its weight. Calls that belong together go to the same target as long as it can be
 * called, then to the same next one; all others go by chance.
 */
export function chooseTarget<T extends Choosable>(
  targets: readonly T[],
  { tried, waitMs, random, call }: Circumstances<T>,
): Choice<T> {
  const [only] = targets;
  if (targets.length === 1 && only !== undefined && tried.length === 0 && waitMs(only) === 0) {
    return { kind: "chosen", target: only };
  }
  const untried = listUntried(targets, tried);
  const ready = untried.filter((target) => waitMs(target) === 0);
  if (ready.length === 0) {
    return { kind: "none", retryAfterMs: untried.length === 0 ? null : Math.min(...untried.map(waitMs)) };
  }
  const first = Math.min(...ready.map(({ route }) => route.priority));
  const candidates = ready.filter(({ route }) => route.priority === first);
  if (candidates.length > 1 && call?.findAffinity !== undefined) {
    return { kind: "chosen", target: chooseRelated(candidates, call.findAffinity()) };
  }
  let mark = random() * candidates.reduce((sum, target) => sum + weigh(target), 0);
  for (const target of candidates) {
    mark -= weigh(target);
    if (mark < 0) return { kind: "chosen", target };
  }
  // Rounding can leave a trace of the mark; it belongs to the last.
  return { kind: "chosen", target: candidates[candidates.length - 1] ?? (ready[0] as T) };
}

/** The targets that may still be tried: none twice, and none of a provider that has had its attempts. */
export function listUntried<T extends Choosable>(targets: readonly T[], tried: readonly T[]): readonly T[] {
  if (tried.length === 0) return targets;
  const countTried = (providerId: string): number => tried.filter((one) => one.providerId === providerId).length;
  return targets.filter((target) => !tried.includes(target) && countTried(target.providerId) < attemptsPerProviderMax);
}

/**
 * Rendezvous hashing: each target draws a lot that depends on itself and on what belongs together alone, heavy ones more
 * often the best. One that comes or goes changes nothing among the others.
 */
function chooseRelated<T extends Choosable>(candidates: readonly T[], affinity: number): T {
  let best = candidates[0] as T;
  let bestLot = Number.POSITIVE_INFINITY;
  for (const target of candidates) {
    const chance = (mixHashes(affinity, target.placeHash) + 0.5) / hashesMax;
    const lot = -Math.log(chance) / weigh(target);
    if (lot < bestLot) {
      best = target;
      bestLot = lot;
    }
  }
  return best;
}

const hashesMax = 2 ** 32;

function weigh({ route, provider }: Choosable): number {
  return route.weight / (provider.api_keys?.length ?? 1);
}

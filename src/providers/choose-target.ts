import { mixHashes } from "../lib/text-hash.ts";
import type { RoutePace } from "./route-pace.ts";

/** The maximum number of targets that a call tries. */
export const attemptsMax = 5;
/** At most this many of one provider: if two of its keys or models fail, another provider is more likely to work. */
const attemptsPerProviderMax = 2;

/** The properties of a target that matter for the choice. */
export type Choosable = {
  providerId: string;
  route: { priority: number; weight: number };
  provider: { api_keys?: readonly string[] };
  /** A stable hash of this target, independent of the others. */
  placeHash: number;
  /** Only for models with a routing policy. */
  pace?: RoutePace;
};

/** Related calls have the same number. Computed only if there is a choice. */
type Related = { findAffinity?(): number };

export type Choice<T> =
  | { kind: "chosen"; target: T }
  /** No target can be called now; one could in `retryAfterMs`, `null` if all were tried. */
  | { kind: "none"; retryAfterMs: number | null };

type Circumstances<T> = {
  tried: readonly T[];
  waitMs(target: T): number;
  random(): number;
  /** The call; without it, or without an affinity, the choice is random. */
  call?: Related;
};

/**
 * Chooses among the untried targets that may be called: lowest priority first, weighted by route. The keys of a route
 * share its weight. Related calls go to the same target while it can be called, then to the same next one.
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
  // Rounding can leave a remainder, which belongs to the last.
  return { kind: "chosen", target: candidates[candidates.length - 1] ?? (ready[0] as T) };
}

/** Targets that may still be tried: none twice, and none of a provider that has used its attempts. */
export function listUntried<T extends Choosable>(targets: readonly T[], tried: readonly T[]): readonly T[] {
  if (tried.length === 0) return targets;
  const countTried = (providerId: string): number => tried.filter((one) => one.providerId === providerId).length;
  return targets.filter((target) => !tried.includes(target) && countTried(target.providerId) < attemptsPerProviderMax);
}

/**
 * Rendezvous hashing: each target's score depends only on itself, its weight and the affinity. Adding or removing a
 * target does not move calls among the others.
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

function weigh({ route, provider, pace }: Choosable): number {
  return (route.weight / (provider.api_keys?.length ?? 1)) * (pace?.share ?? 1);
}

import type { Clock } from "../lib/clock.ts";
import type { ProviderErrorKind } from "./contract.ts";

/** Where a call can go: one model at one upstream, with one of our keys there. */
export type UpstreamTarget = { providerId: string; upstreamModel: string; keyNumber: number };

export type TargetState = "resting" | "probing" | "shaky";

export type TargetHealth = UpstreamTarget & {
  state: TargetState;
  failures: number;
  lastFailure: ProviderErrorKind;
  /** When it may be called again; in the past for one that is merely shaky. */
  restsUntil: Date;
};

export type CallOutcome =
  | { kind: "answered" }
  | { kind: "abandoned" }
  | { kind: ProviderErrorKind; retryAfterMs: number | null };

/**
 * Remembers which upstreams lately failed, so that calls go where they are likely to succeed. One that keeps failing is
 * left alone for a while; then one call at a time tries whether it is back. What was never heard to fail costs nothing.
 */
export type UpstreamHealth = {
  /** In how many milliseconds it may be called: 0 is now. One that is being probed is not called meanwhile. */
  waitMs(target: UpstreamTarget): number;
  /** Whether it may be called without being on trial. */
  isWell(target: UpstreamTarget): boolean;
  /** Told before a call; answers whether the call is on trial for a target that has been resting. */
  begin(target: UpstreamTarget): boolean;
  /** Told of each call that was begun: when it is answered, and when it fails, also in the middle of an answer. */
  report(target: UpstreamTarget, outcome: CallOutcome, call: { isProbe: boolean }): void;
  /** Every target that is not simply well. */
  list(): TargetHealth[];
  /** Grows with every change of what can be called, so that answers about it can be remembered. */
  version(): number;
};

type Entry = {
  target: UpstreamTarget;
  calls: number;
  failures: number;
  windowEndsMs: number;
  restsUntilMs: number;
  restMs: number;
  isProbed: boolean;
  isResting: boolean;
  lastFailure: ProviderErrorKind;
};

const windowMs = 30_000;
const failuresMin = 5;
const failedShare = 0.5;
const restMsMin = 2_000;
const restMsMax = 60_000;
/** A key that was refused, or that is out of money, is seldom well again by itself. */
const unauthorizedRestMs = 60_000;
const rateLimitRestMs = 1_000;
const retryAfterMsMax = 600_000;
const entriesMax = 10_000;

export function createUpstreamHealth({ clock }: { clock: Clock }): UpstreamHealth {
  const entries = new Map<string, Entry>();
  let version = 0;

  function getEntry(target: UpstreamTarget, lastFailure: ProviderErrorKind): Entry {
    const name = nameTarget(target);
    const known = entries.get(name);
    const nowMs = clock.monotonicMs();
    if (known !== undefined) {
      if (nowMs >= known.windowEndsMs) Object.assign(known, { calls: 0, failures: 0, windowEndsMs: nowMs + windowMs });
      return known;
    }
    const entry: Entry = {
      target,
      calls: 0,
      failures: 0,
      windowEndsMs: nowMs + windowMs,
      restsUntilMs: 0,
      restMs: restMsMin,
      isProbed: false,
      isResting: false,
      lastFailure,
    };
    if (entries.size >= entriesMax) entries.clear();
    entries.set(name, entry);
    return entry;
  }

  function rest(entry: Entry, forMs: number): void {
    entry.isResting = true;
    entry.restsUntilMs = clock.monotonicMs() + forMs;
    version += 1;
  }

  function recover(entry: Entry): void {
    entries.delete(nameTarget(entry.target));
    version += 1;
  }

  function fail(target: UpstreamTarget, { kind, retryAfterMs }: Blamed, isProbe: boolean): void {
    const entry = getEntry(target, kind);
    if (isProbe) entry.isProbed = false;
    entry.lastFailure = kind;
    entry.calls += 1;
    entry.failures += 1;
    const isFailing = entry.failures >= failuresMin && entry.failures >= entry.calls * failedShare;
    if (kind === "unauthorized") rest(entry, unauthorizedRestMs);
    else if (retryAfterMs !== null) rest(entry, Math.min(retryAfterMs, retryAfterMsMax));
    else if (kind === "rate-limited") rest(entry, rateLimitRestMs);
    else if (isProbe || isFailing) {
      rest(entry, entry.restMs);
      entry.restMs = Math.min(entry.restMs * 2, restMsMax);
    }
  }

  return {
    waitMs(target) {
      if (entries.size === 0) return 0;
      const entry = entries.get(nameTarget(target));
      if (entry === undefined || !entry.isResting) return 0;
      const leftMs = entry.restsUntilMs - clock.monotonicMs();
      return leftMs > 0 ? leftMs : entry.isProbed ? restMsMin : 0;
    },
    isWell: (target) => entries.size === 0 || entries.get(nameTarget(target))?.isResting !== true,
    begin(target) {
      const entry = entries.size === 0 ? undefined : entries.get(nameTarget(target));
      if (entry?.isResting !== true) return false;
      entry.isProbed = true;
      return true;
    },
    report(target, outcome, { isProbe }) {
      if (isBlamed(outcome)) {
        fail(target, outcome, isProbe);
        return;
      }
      const entry = entries.size === 0 ? undefined : entries.get(nameTarget(target));
      if (entry === undefined) return;
      if (entry.isResting) {
        // A call that was begun before the rest says nothing of how the target is now.
        if (!isProbe) return;
        // Nobody knows how an abandoned call would have ended: the next one probes again.
        if (outcome.kind === "abandoned") entry.isProbed = false;
        else recover(entry);
      } else if (outcome.kind === "answered") {
        if (clock.monotonicMs() >= entry.windowEndsMs) recover(entry);
        else entry.calls += 1;
      }
    },
    list() {
      const nowMs = clock.monotonicMs();
      const now = clock.now().getTime();
      return [...entries.values()].map(({ target, isProbed, isResting, failures, lastFailure, restsUntilMs }) => ({
        ...target,
        state: isProbed ? "probing" : isResting ? "resting" : "shaky",
        failures,
        lastFailure,
        restsUntil: new Date(now + restsUntilMs - nowMs),
      }));
    },
    version: () => version,
  };
}

type Blamed = Extract<CallOutcome, { retryAfterMs: number | null }>;

/** What the caller did wrong says nothing against the upstream. */
function isBlamed(outcome: CallOutcome): outcome is Blamed {
  return "retryAfterMs" in outcome && !["rejected", "content-refused", "too-long"].includes(outcome.kind);
}

function nameTarget({ providerId, upstreamModel, keyNumber }: UpstreamTarget): string {
  return `${providerId}\n${upstreamModel}\n${keyNumber}`;
}

import type { Clock } from "../lib/clock.ts";
import { createMetrics, type Metrics } from "../platform/observability/metrics.ts";
import type { ProviderErrorKind } from "./contract.ts";
import type { SetupFault } from "./provider-setup.ts";

/** Where a call can go: one model at one upstream, with one of our keys there. */
export type UpstreamTarget = { providerId: string; upstreamModel: string; keyNumber: number };

/**
 * | circuit     | what is true                                              | what may follow             |
 * |-------------|-----------------------------------------------------------|-----------------------------|
 * | `degraded`  | it failed lately, and is called all the same               | closed (forgotten), `open`  |
 * | `open`      | it is not called until its time is over                     | `half-open`                 |
 * | `half-open` | one call tries whether it is back; the others go elsewhere  | closed, `open`              |
 */
export type CircuitState = "degraded" | "open" | "half-open";

export type TargetHealth = UpstreamTarget & {
  state: CircuitState;
  failures: number;
  lastFailure: ProviderErrorKind | FaultName;
  /** When it may be called again; in the past for one that is merely degraded. */
  openUntil: Date;
};

/** A fault of the set-up with what is missing: `missing-secret ACME_KEY`. */
type FaultName = `${SetupFault["code"]} ${string}`;

/** A target that is out of service until its set-up changes. */
type FaultyTarget = { target: UpstreamTarget; fault: SetupFault };

export type CallOutcome =
  | { kind: "answered" }
  | { kind: "abandoned" }
  | { kind: ProviderErrorKind; retryAfterMs: number | null };

/**
 * Remembers which upstreams lately failed, so that calls go where they are likely to succeed. The circuit of
 * one that keeps failing opens for a while; then one call at a time tries whether it is back. What was never heard to fail costs nothing.
 */
export type UpstreamHealth = {
  /** In how many milliseconds it may be called: 0 is now. One whose circuit is half-open is not called meanwhile. */
  waitMs(target: UpstreamTarget): number;
  /** Whether its circuit is closed, or it is merely degraded. */
  isWell(target: UpstreamTarget): boolean;
  /** Told before a call; answers whether the call is the one that tries a half-open circuit. */
  begin(target: UpstreamTarget): boolean;
  /** Told of each call that was begun: when it is answered, and when it fails, also in the middle of an answer. */
  report(target: UpstreamTarget, outcome: CallOutcome, call: { isProbe: boolean }): void;
  /** Takes exactly these targets out of service: their circuits are open for as long as they are listed. */
  setFaults(faults: readonly FaultyTarget[]): void;
  /** Why a target is out of service; `null` for one that is in service, however it is doing. */
  findFault(target: UpstreamTarget): SetupFault | null;
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
  circuit: CircuitState;
  openUntilMs: number;
  /** How long the circuit opens for the next time: exponential backoff. */
  nextOpenMs: number;
  lastFailure: ProviderErrorKind;
};

const windowMs = 30_000;
const failuresMin = 5;
const failedShare = 0.5;
const openMsMin = 2_000;
const openMsMax = 60_000;
/** A key that was refused, or that is out of money, is seldom well again by itself. */
const unauthorizedOpenMs = 60_000;
const rateLimitOpenMs = 1_000;
const retryAfterMsMax = 600_000;
const entriesMax = 10_000;
/** When to look again whether the set-up has changed. */
const faultMs = 60_000;

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one table of circuits; its functions share it.
export function createUpstreamHealth({
  clock,
  metrics = createMetrics(),
}: {
  clock: Clock;
  metrics?: Pick<Metrics, "upstreamOutcomes">;
}): UpstreamHealth {
  const entries = new Map<string, Entry>();
  let faults: ReadonlyMap<string, FaultyTarget> = new Map();
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
      circuit: "degraded",
      openUntilMs: 0,
      nextOpenMs: openMsMin,
      lastFailure,
    };
    if (entries.size >= entriesMax) entries.clear();
    entries.set(name, entry);
    return entry;
  }

  function open(entry: Entry, forMs: number): void {
    if (entry.circuit === "degraded") entry.circuit = "open";
    entry.openUntilMs = clock.monotonicMs() + forMs;
    version += 1;
  }

  function recover(entry: Entry): void {
    entries.delete(nameTarget(entry.target));
    version += 1;
  }

  function fail(target: UpstreamTarget, { kind, retryAfterMs }: Blamed, isProbe: boolean): void {
    const entry = getEntry(target, kind);
    // A call that was begun before the circuit opened does not end the one that tries it.
    if (isProbe) entry.circuit = "open";
    entry.lastFailure = kind;
    entry.calls += 1;
    entry.failures += 1;
    const isFailing = entry.failures >= failuresMin && entry.failures >= entry.calls * failedShare;
    if (kind === "unauthorized") open(entry, unauthorizedOpenMs);
    else if (retryAfterMs !== null) open(entry, Math.min(retryAfterMs, retryAfterMsMax));
    else if (kind === "rate-limited") open(entry, rateLimitOpenMs);
    else if (isProbe || isFailing) {
      open(entry, entry.nextOpenMs);
      entry.nextOpenMs = Math.min(entry.nextOpenMs * 2, openMsMax);
    }
  }

  return {
    waitMs(target) {
      if (faults.size > 0 && faults.has(nameTarget(target))) return faultMs;
      if (entries.size === 0) return 0;
      const entry = entries.get(nameTarget(target));
      if (entry === undefined || entry.circuit === "degraded") return 0;
      const leftMs = entry.openUntilMs - clock.monotonicMs();
      return leftMs > 0 ? leftMs : entry.circuit === "half-open" ? openMsMin : 0;
    },
    isWell(target) {
      if (faults.size > 0 && faults.has(nameTarget(target))) return false;
      const entry = entries.size === 0 ? undefined : entries.get(nameTarget(target));
      return entry === undefined || entry.circuit === "degraded";
    },
    begin(target) {
      const entry = entries.size === 0 ? undefined : entries.get(nameTarget(target));
      if (entry === undefined || entry.circuit === "degraded") return false;
      entry.circuit = "half-open";
      return true;
    },
    report(target, outcome, { isProbe }) {
      metrics.upstreamOutcomes.at(target.providerId, outcome.kind).add(1);
      if (isBlamed(outcome)) {
        fail(target, outcome, isProbe);
        return;
      }
      const entry = entries.size === 0 ? undefined : entries.get(nameTarget(target));
      if (entry === undefined) return;
      if (entry.circuit !== "degraded") {
        // A call that was begun before the circuit opened says nothing of how the target is now.
        if (!isProbe) return;
        // Nobody knows how an abandoned call would have ended: the next one probes again.
        if (outcome.kind === "abandoned") entry.circuit = "open";
        else recover(entry);
      } else if (outcome.kind === "answered") {
        if (clock.monotonicMs() >= entry.windowEndsMs) recover(entry);
        else entry.calls += 1;
      }
    },
    setFaults(listed) {
      if (listed.length === 0 && faults.size === 0) return;
      faults = new Map(listed.map((faulty) => [nameTarget(faulty.target), faulty]));
      version += 1;
    },
    findFault: (target) => (faults.size === 0 ? null : (faults.get(nameTarget(target))?.fault ?? null)),
    list() {
      const nowMs = clock.monotonicMs();
      const now = clock.now().getTime();
      const inService = [...entries].flatMap(([name, entry]) => (faults.has(name) ? [] : [entry]));
      const outOfService = [...faults.values()].map(
        ({ target, fault: { code, subject } }): TargetHealth => ({
          ...target,
          ...{ state: "open", failures: 0, lastFailure: `${code} ${subject}` },
          openUntil: new Date(now + faultMs),
        }),
      );
      const unwell = inService.map(({ target, circuit, failures, lastFailure, openUntilMs }) => ({
        ...target,
        state: circuit,
        failures,
        lastFailure,
        openUntil: new Date(now + openUntilMs - nowMs),
      }));
      return [...unwell, ...outOfService];
    },
    version: () => version,
  };
}

type Blamed = Extract<CallOutcome, { retryAfterMs: number | null }>;

/** What the caller did wrong says nothing against the upstream. */
function isBlamed(outcome: CallOutcome): outcome is Blamed {
  return "retryAfterMs" in outcome && !["rejected", "content-refused", "too-long"].includes(outcome.kind);
}

/** The same text for the same target. */
export function nameTarget({ providerId, upstreamModel, keyNumber }: UpstreamTarget): string {
  return `${providerId}\n${upstreamModel}\n${keyNumber}`;
}

import type { Clock } from "../lib/clock.ts";
import { createMetrics, type Metrics } from "../platform/observability/metrics.ts";
import type { ProviderError, ProviderErrorKind } from "./contract.ts";
import { type CircuitEffect, failureTable } from "./failures/failure-table.ts";
import type { SetupFault } from "./provider-setup.ts";

/** The destination of a call: one model at one upstream, with one of our keys. */
export type UpstreamTarget = { providerId: string; upstreamModel: string; keyNumber: number };

/**
 * | circuit     | meaning                                          | next                        |
 * |-------------|--------------------------------------------------|-----------------------------|
 * | `degraded`  | failed recently, still in use                    | closed (forgotten), `open`  |
 * | `open`      | not in use until `openUntil`                     | `half-open`                 |
 * | `half-open` | one call probes it; the others go elsewhere      | closed, `open`              |
 */
export type CircuitState = "degraded" | "open" | "half-open";

/** A target, or all targets of one key if the model is `null`. */
type CircuitPlace = Omit<UpstreamTarget, "upstreamModel"> & { upstreamModel: string | null };

export type TargetHealth = CircuitPlace & {
  state: CircuitState;
  failures: number;
  lastFailure: ProviderErrorKind | FaultName;
  /** When it may be called again; in the past if it is only degraded. */
  openUntil: Date;
};

/** A setup fault and its subject: `missing-secret ACME_KEY`. */
type FaultName = `${SetupFault["code"]} ${string}`;

/** A target that is out of service until its setup changes. */
type FaultyTarget = { target: UpstreamTarget; fault: SetupFault };

export type CallOutcome =
  | { kind: "answered" }
  | { kind: "abandoned" }
  | { kind: ProviderErrorKind; retryAfterMs: number | null };

/** A `probe` is the one call that tests a half-open circuit. */
export type CallRole = "usual" | "probe";

/** What a failure means for the upstream's health. */
export function describeOutcome({ kind, retryAfterMs, isIsolated }: ProviderError): CallOutcome {
  return isIsolated ? { kind: "abandoned" } : { kind, retryAfterMs };
}

/**
 * A circuit breaker for each target and key: calls go where they are likely to succeed. The circuit of a target that
 * keeps failing opens for a while; then one call at a time probes it. Targets without failures take no memory.
 */
export type UpstreamHealth = {
  /** Milliseconds until it may be called: 0 is now. While its circuit is half-open, only the probe calls it. */
  waitMs(target: UpstreamTarget): number;
  /** The same for work that was accepted at `acceptedAt`, which a draining target still takes. */
  waitMsOfAccepted(target: UpstreamTarget, acceptedAt: Date): number;
  /** The circuit of a call to it: the worse of its own and its key's. */
  findState(target: UpstreamTarget): CircuitState | "closed";
  /** Whether its circuit is closed or degraded. */
  isWell(target: UpstreamTarget): boolean;
  /** Must be called before each call. */
  begin(target: UpstreamTarget): CallRole;
  /** Must be called once for each call: on success and on failure, also in the middle of an answer. */
  report(target: UpstreamTarget, outcome: CallOutcome, role: CallRole): void;
  /** Closes all circuits of a key, because it was replaced. */
  forgetKey(providerId: string, keyNumber: number): void;
  /** Takes exactly these targets out of service: their circuits stay open while they are listed. */
  setFaults(faults: readonly FaultyTarget[]): void;
  /** Why a target is out of service; `null` if it is in service. */
  findFault(target: UpstreamTarget): SetupFault | null;
  /** Every target and key whose circuit is not closed. */
  list(): TargetHealth[];
  /** Increments with every change of what can be called, so that responses about it can be cached. */
  version(): number;
};

type Entry = {
  place: CircuitPlace;
  calls: number;
  failures: number;
  windowEndsMs: number;
  circuit: CircuitState;
  openUntilMs: number;
  /** How long the circuit opens next time: exponential backoff. */
  nextOpenMs: number;
  lastFailure: ProviderErrorKind;
};

const windowMs = 30_000;
const failuresMin = 5;
const failedShare = 0.5;
const openMsMin = 2_000;
const openMsMax = 60_000;
const retryAfterMsMax = 600_000;
const entriesMax = 10_000;
/** When to check again whether the setup has changed. */
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

  /** The circuits of a call to a target: its own and its key's. */
  function listEntries(target: UpstreamTarget): readonly Entry[] {
    if (entries.size === 0) return none;
    const [own, ofKey] = [entries.get(nameTarget(target)), entries.get(nameTarget(widenToKey(target)))];
    if (own === undefined) return ofKey === undefined ? none : [ofKey];
    return ofKey === undefined ? [own] : [own, ofKey];
  }

  function getEntry(place: CircuitPlace, lastFailure: ProviderErrorKind): Entry {
    const name = nameTarget(place);
    const known = entries.get(name);
    const nowMs = clock.monotonicMs();
    if (known !== undefined) {
      if (nowMs >= known.windowEndsMs) Object.assign(known, { calls: 0, failures: 0, windowEndsMs: nowMs + windowMs });
      return known;
    }
    const entry: Entry = {
      place,
      calls: 0,
      failures: 0,
      windowEndsMs: nowMs + windowMs,
      circuit: "degraded",
      openUntilMs: 0,
      nextOpenMs: openMsMin,
      lastFailure,
    };
    if (entries.size >= entriesMax) {
      entries.clear();
      version += 1;
    }
    entries.set(name, entry);
    return entry;
  }

  function open(entry: Entry, forMs: number): void {
    if (entry.circuit === "degraded") entry.circuit = "open";
    entry.openUntilMs = clock.monotonicMs() + forMs;
    version += 1;
  }

  function recover(entry: Entry): void {
    entries.delete(nameTarget(entry.place));
    version += 1;
  }

  function fail(target: UpstreamTarget, { kind, retryAfterMs }: Blamed, role: CallRole): void {
    const effect: CircuitEffect = failureTable[kind].circuit;
    const entry = getEntry(findPlace(target, effect), kind);
    // A call from before the circuit opened does not end the probe.
    if (role === "probe") for (const tried of listEntries(target)) giveUpProbe(tried);
    entry.lastFailure = kind;
    if (effect.opens === "never-but-noted") return;
    entry.calls += 1;
    entry.failures += 1;
    const isFailing = entry.failures >= failuresMin && entry.failures >= entry.calls * failedShare;
    // A key rarely recovers by itself, whatever `Retry-After` says.
    const isOfKey = effect.opens === "at-once" && effect.scope === "key";
    if (retryAfterMs !== null && !isOfKey) open(entry, Math.min(retryAfterMs, retryAfterMsMax));
    else if (effect.opens === "at-once") open(entry, effect.openMs);
    else if (role === "probe" || isFailing) {
      open(entry, entry.nextOpenMs);
      entry.nextOpenMs = Math.min(entry.nextOpenMs * 2, openMsMax);
    }
  }

  function findCircuitWaitMs(target: UpstreamTarget): number {
    let waitMs = 0;
    for (const { circuit, openUntilMs } of listEntries(target)) {
      if (circuit === "degraded") continue;
      const leftMs = openUntilMs - clock.monotonicMs();
      waitMs = Math.max(waitMs, leftMs > 0 ? leftMs : circuit === "half-open" ? openMsMin : 0);
    }
    return waitMs;
  }

  const findFault = (target: UpstreamTarget): SetupFault | null =>
    faults.size === 0 ? null : (faults.get(nameTarget(target))?.fault ?? null);

  return {
    waitMs(target) {
      if (faults.size > 0 && faults.has(nameTarget(target))) return faultMs;
      return findCircuitWaitMs(target);
    },
    waitMsOfAccepted(target, acceptedAt) {
      const fault = findFault(target);
      const isAdmitted = fault === null || (fault.admitsBefore !== undefined && acceptedAt < fault.admitsBefore);
      return isAdmitted ? findCircuitWaitMs(target) : faultMs;
    },
    findState(target) {
      if (faults.size > 0 && faults.has(nameTarget(target))) return "open";
      const states = listEntries(target).map(({ circuit }) => circuit);
      return statesByGravity.find((state) => states.includes(state)) ?? "closed";
    },
    isWell(target) {
      if (faults.size > 0 && faults.has(nameTarget(target))) return false;
      return listEntries(target).every(({ circuit }) => circuit === "degraded");
    },
    begin(target) {
      let role: CallRole = "usual";
      for (const entry of listEntries(target)) {
        if (entry.circuit === "degraded") continue;
        entry.circuit = "half-open";
        role = "probe";
      }
      return role;
    },
    report(target, outcome, role) {
      metrics.upstreamOutcomes.at(target.providerId, outcome.kind).add(1);
      if (isBlamed(outcome)) {
        fail(target, outcome, role);
        return;
      }
      for (const entry of listEntries(target)) {
        if (entry.circuit !== "degraded") {
          // A call from before the circuit opened says nothing about the target now.
          if (role !== "probe") continue;
          // The outcome of an abandoned call is unknown: the next one probes again.
          if (outcome.kind === "abandoned") giveUpProbe(entry);
          else recover(entry);
        } else if (outcome.kind === "answered") {
          if (clock.monotonicMs() >= entry.windowEndsMs) recover(entry);
          else entry.calls += 1;
        }
      }
    },
    forgetKey(providerId, keyNumber) {
      for (const entry of entries.values()) {
        if (entry.place.providerId === providerId && entry.place.keyNumber === keyNumber) recover(entry);
      }
    },
    setFaults(listed) {
      if (listed.length === 0 && faults.size === 0) return;
      faults = new Map(listed.map((faulty) => [nameTarget(faulty.target), faulty]));
      version += 1;
    },
    findFault,
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
      const unwell = inService.map(({ place, circuit, failures, lastFailure, openUntilMs }) => ({
        ...place,
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

/** The customer's fault says nothing about the upstream. */
export function isBlamed(outcome: CallOutcome): outcome is Blamed {
  return "retryAfterMs" in outcome && failureTable[outcome.kind].circuit.opens !== "never";
}

const none: readonly Entry[] = [];
const statesByGravity = ["open", "half-open", "degraded"] as const satisfies readonly CircuitState[];

function giveUpProbe(entry: Entry): void {
  if (entry.circuit === "half-open") entry.circuit = "open";
}

function findPlace(target: UpstreamTarget, effect: CircuitEffect): CircuitPlace {
  if (effect.opens === "at-once" && effect.scope === "key") return widenToKey(target);
  const { providerId, upstreamModel, keyNumber } = target;
  return { providerId, upstreamModel, keyNumber };
}

function widenToKey({ providerId, keyNumber }: UpstreamTarget): CircuitPlace {
  return { providerId, upstreamModel: null, keyNumber };
}

/** The same string for the same place. */
export function nameTarget({ providerId, upstreamModel, keyNumber }: CircuitPlace): string {
  return `${providerId}\n${upstreamModel ?? ""}\n${keyNumber}`;
}

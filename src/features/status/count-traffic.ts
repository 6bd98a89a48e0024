import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { readTraffic, type TrafficCall } from "../requests/index.ts";
import { findProgress, replaceSlots, type TrafficKind, type TrafficSlot } from "./traffic-store.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
export const slotMs = 5 * minuteMs;
/** The log is written shortly after each response; later calls are not counted. */
const lateMs = 10 * minuteMs;
/** After a longer pause, gateways may still be writing the calls of an outage. */
const pauseMs = 5 * minuteMs;
/** How far a run reaches back at most, so that a long downtime does not make it read for minutes. */
const reachMs = 6 * 60 * minuteMs;
const slotsKeptMs = 3 * dayMs;
const daysKeptMs = 100 * dayMs;

/** An operator disabled the endpoint. */
const disabledStatus = 501;
/** Failures that the caller caused, and attempts that the caller left. */
const ownFaults: ReadonlySet<string> = new Set(["abandoned", "rejected", "content-refused", "too-long"]);

type Counting = {
  database: Database;
  clock: Clock;
  /** Calls name any model; only these are counted. */
  hasModel(id: string): boolean;
};

/**
 * Counts the calls of the request log by model, endpoint and upstream. Each run counts the last minutes again and replaces them, so
 * it is safe to repeat.
 */
export async function countTraffic({ database, clock, hasModel }: Counting): Promise<void> {
  const now = clock.now();
  const progress = await findProgress(database);
  const nowMs = now.getTime();
  const countedMs = progress?.countedUntil.getTime() ?? nowMs;
  const fromMs = Math.max(Math.min(countedMs, nowMs) - lateMs, nowMs - reachMs);
  const from = new Date(Math.floor(fromMs / slotMs) * slotMs);
  const tallies = new Map<string, TrafficSlot>();
  await readTraffic(database, { from, to: new Date(nowMs + minuteMs) }, (call) => {
    const slotAt = new Date(Math.floor(call.createdAt.getTime() / slotMs) * slotMs);
    for (const { kind, subject, hasFailed } of listSubjects(call, hasModel)) {
      const name = `${slotAt.getTime()} ${kind} ${subject}`;
      const tally = tallies.get(name) ?? { slotAt, kind, subject, calls: 0, failed: 0 };
      tally.calls += 1;
      if (hasFailed) tally.failed += 1;
      tallies.set(name, tally);
    }
  });
  const wasPaused = progress !== null && nowMs - progress.runAt.getTime() > pauseMs;
  await replaceSlots(database, {
    slots: [...tallies.values()],
    from,
    progress: { countedUntil: wasPaused ? progress.countedUntil : now, runAt: now },
    slotsKeptFrom: new Date(nowMs - slotsKeptMs),
    daysKeptFrom: new Date(nowMs - daysKeptMs),
  });
}

type Counted = { kind: TrafficKind; subject: string; hasFailed: boolean };

/** What a call says about its model, its endpoint and the upstreams that were tried. */
function listSubjects(
  { model, wire, status, ending, upstream, failedAttempts }: TrafficCall,
  hasModel: Counting["hasModel"],
): Counted[] {
  const counted: Counted[] = [];
  const hasFailed = (ending === "failed" || ending === "broken_off") && status !== disabledStatus;
  if (wire !== null) counted.push({ kind: "endpoint", subject: wire, hasFailed });
  if (model !== null && hasModel(model)) counted.push({ kind: "model", subject: model, hasFailed });
  for (const attempt of failedAttempts) {
    if (!ownFaults.has(attempt.kind)) counted.push({ kind: "upstream", subject: attempt.upstream, hasFailed: true });
  }
  if (upstream !== null && ending === "answered")
    counted.push({ kind: "upstream", subject: upstream, hasFailed: false });
  return counted;
}

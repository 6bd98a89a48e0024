import type { Alarm, AlarmEvent, Measured, Reading } from "./alarm.ts";
import type { AlarmRule } from "./alarm-rules.ts";

/** What a reading means for one subject. The alarm is absent for a subject without an open one. */
export type Finding = {
  subject: string;
  alarm: Alarm | null;
  measured: Measured | null;
  events: readonly AlarmEvent[];
};

const minuteMs = 60_000;
/** An alarm of a machine that no gateway has read for this long ends: the machine is gone. */
const unseenMs = 24 * 60 * minuteMs;

type Decision = {
  rule: AlarmRule;
  threshold: number;
  open: readonly Alarm[];
  reading: Reading;
  now: Date;
};

/** Compares a reading with the open alarms of its rule. */
export function decideAlarms({ rule, threshold, open, reading, now }: Decision): Finding[] {
  const met = new Map(
    reading.measured
      .filter(({ value, threshold: own = threshold }) => isMet(rule, value, own))
      .map((one) => [one.subject, one]),
  );
  const openBySubject = new Map(open.map((alarm) => [alarm.subject, alarm]));
  const subjects = new Set([...met.keys(), ...openBySubject.keys()]);
  return [...subjects].map((subject) => {
    const alarm = openBySubject.get(subject) ?? null;
    const measured = met.get(subject) ?? null;
    return { subject, alarm, measured, events: [...listEvents({ rule, alarm, measured, reading, now })] };
  });
}

function isMet(rule: Pick<AlarmRule, "isMetBy">, value: number, threshold: number): boolean {
  return rule.isMetBy === "above" ? value > threshold : value < threshold;
}

function* listEvents({
  rule,
  alarm,
  measured,
  reading,
  now,
}: Pick<Decision, "rule" | "reading" | "now"> & Pick<Finding, "alarm" | "measured">): Generator<AlarmEvent> {
  const nowMs = now.getTime();
  if (alarm?.silencedUntil != null && alarm.silencedUntil <= now && measured !== null) yield "silence-over";
  if (measured !== null) {
    const beganMs = alarm?.beganAt.getTime() ?? nowMs;
    yield nowMs - beganMs >= rule.forMinutes * minuteMs ? "held" : "met";
    return;
  }
  if (alarm === null) return;
  const quietMs = nowMs - alarm.metAt.getTime();
  const isSeen = reading.covers?.(alarm.subject) ?? true;
  if (isSeen ? quietMs >= rule.clearMinutes * minuteMs : quietMs >= unseenMs) yield "cleared";
}

/** The worst of all values; `null` without any. */
export function findWorst(rule: Pick<AlarmRule, "isMetBy">, measured: readonly Measured[]): Measured | null {
  const isWorse = (a: number, b: number): boolean => (rule.isMetBy === "above" ? a > b : a < b);
  return measured.reduce<Measured | null>(
    (worst, one) => (worst === null || isWorse(one.value, worst.value) ? one : worst),
    null,
  );
}

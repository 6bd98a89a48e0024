import { describe, expect, test } from "vitest";
import { type Alarm, alarmEvents, alarmStates, alarmTable } from "./alarm.ts";
import { getRule, listRuleNames, presentValue } from "./alarm-rules.ts";
import { decideAlarms, findWorst } from "./decide-alarms.ts";

const now = new Date("2027-01-01T00:00:00Z");
const ago = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);
const rule = { ...getRule("circuit-open"), forMinutes: 5, clearMinutes: 10 };

function makeAlarm(more: Partial<Alarm>): Alarm {
  return {
    ...{ id: "alarm_1", rule: "circuit-open", subject: "a", state: "firing", value: 1, message: "" },
    ...{ beganAt: ago(60), metAt: ago(1), silencedUntil: null, endedAt: null },
    ...more,
  };
}

function decide(open: Alarm[], values: Record<string, number>, covers?: (subject: string) => boolean) {
  const measured = Object.entries(values).map(([subject, value]) => ({
    subject,
    value,
    message: `${subject} is ${value}`,
  }));
  const reading = covers === undefined ? { measured } : { measured, covers };
  const findings = decideAlarms({ rule, threshold: 0, open, reading, now });
  return findings.map(({ subject, events }) => [subject, ...events]);
}

describe("a reading", () => {
  test("above the threshold is met, and held once it has lasted", () => {
    expect(decide([], { a: 1, b: 0 })).toEqual([["a", "met"]]);
    expect(decide([makeAlarm({ state: "pending", beganAt: ago(4) })], { a: 1 })).toEqual([["a", "met"]]);
    expect(decide([makeAlarm({ state: "pending", beganAt: ago(5) })], { a: 1 })).toEqual([["a", "held"]]);
  });

  test("a subject's own threshold replaces the rule's", () => {
    const low = { ...getRule("vendor-balance"), forMinutes: 0 };
    const measured = [
      { subject: "a", value: 15, message: "" },
      { subject: "b", value: 15, message: "", threshold: 20 },
      { subject: "c", value: 5, message: "", threshold: 5 },
      { subject: "d", value: 9, message: "" },
    ];
    const findings = decideAlarms({ rule: low, threshold: 10, open: [], reading: { measured }, now });
    expect(findings.map(({ subject }) => subject)).toEqual(["b", "d"]);
  });

  test("below it clears the alarm once it has lasted, or is not seen for a day", () => {
    expect(decide([makeAlarm({ metAt: ago(9) })], { a: 0 })).toEqual([["a"]]);
    expect(decide([makeAlarm({ metAt: ago(10) })], {})).toEqual([["a", "cleared"]]);
    expect(decide([makeAlarm({ metAt: ago(600) })], {}, () => false)).toEqual([["a"]]);
    expect(decide([makeAlarm({ metAt: ago(1440) })], {}, () => false)).toEqual([["a", "cleared"]]);
  });

  test("ends a silence that is over only while the rule is met", () => {
    const silenced = makeAlarm({ state: "silenced", silencedUntil: ago(0) });
    expect(decide([silenced], { a: 1 })).toEqual([["a", "silence-over", "held"]]);
    expect(decide([silenced], { a: 0 })).toEqual([["a"]]);
    expect(decide([{ ...silenced, silencedUntil: ago(-1) }], { a: 1 })).toEqual([["a", "held"]]);
  });
});

test("the worst of a rule that is met below its threshold is the lowest", () => {
  const measured = [3, 1, 2].map((value) => ({ subject: String(value), value, message: "" }));
  expect(findWorst({ isMetBy: "below" }, measured)?.value).toBe(1);
  expect(findWorst({ isMetBy: "above" }, measured)?.value).toBe(3);
  expect(findWorst({ isMetBy: "above" }, [])).toBeNull();
});

test("the table has every event in every state, and nothing leaves the last one", () => {
  for (const state of ["ok", ...alarmStates] as const) {
    expect(Object.keys(alarmTable[state]).toSorted()).toEqual([...alarmEvents].toSorted());
  }
  expect(new Set(Object.values(alarmTable.resolved))).toEqual(new Set(["impossible"]));
});

test("the defaults are within their bounds, and values have units", () => {
  for (const name of listRuleNames()) {
    const { threshold, bounds } = getRule(name);
    expect(threshold).toBeGreaterThanOrEqual(bounds.min);
    expect(threshold).toBeLessThanOrEqual(bounds.max);
  }
  expect(presentValue(12.345, "percent", "USD")).toBe("12.3 %");
  expect(presentValue(2, "amount", "EUR")).toBe("2.00 EUR");
  expect(presentValue(1.5, "gigabytes", "USD")).toBe("1.50 GB");
  expect(presentValue(3, "count", "USD")).toBe("3");
});

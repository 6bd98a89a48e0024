import type { IdSource } from "../../lib/ids.ts";
import { type Database, inTransaction, readBriefly } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { type Alarm, type AlarmEvent, findStep, type Measured, type Report } from "./alarm.ts";
import { findRule, isRuleName } from "./alarm-rules.ts";
import {
  deleteAlarm,
  deleteOldAlarms,
  insertAlarm,
  insertAlarmEvent,
  listOpenAlarms,
  lockAlarm,
  updateAlarm,
  updateMeasured,
} from "./alarm-store.ts";
import { describeRules, type RuleView } from "./change-rule.ts";
import { decideAlarms, type Finding, findWorst } from "./decide-alarms.ts";
import { insertNotifications, type NotificationChannel } from "./notification-store.ts";
import { type RuleSurroundings, ruleReaders } from "./read-rules.ts";
import { putCheck } from "./rule-store.ts";
import { type AlarmChannels, listChannels, sendNotifications } from "./send-notifications.ts";

export type { AlarmChannels } from "./send-notifications.ts";

type Checking = {
  database: Database;
  ids: IdSource;
  logger: Logger;
  channels: AlarmChannels;
  surroundings: RuleSurroundings;
};

const minuteMs = 60_000;
/** The margin of a busy day takes the longest. */
const readMsMax = 10_000;
const keptMs = 400 * 24 * 60 * minuteMs;
const actor = "sluice";

/** Reads every rule that is due, applies what it means for its alarms, and sends what is to be reported. */
export async function checkAlarms(checking: Checking, signal: AbortSignal): Promise<void> {
  const { database, surroundings } = checking;
  const now = surroundings.clock.now();
  const rules = await describeRules(database);
  const open = await listOpenAlarms(database);
  for (const rule of rules) {
    if (signal.aborted) return;
    const own = open.filter((alarm) => alarm.rule === rule.name);
    if (!rule.isOn) await endAll(checking, { alarms: own, note: "The rule is switched off." });
    else if (isDue(rule, now)) await checkRule(checking, { rule, open: own, now });
  }
  // A rule of a newer version, or one that this version no longer has.
  await endAll(checking, {
    alarms: open.filter((alarm) => !isRuleName(alarm.rule)),
    note: "The rule is unknown here.",
  });
  await deleteOldAlarms(database, new Date(now.getTime() - keptMs));
  await sendNotifications(checking, signal);
}

/** A little early: the job does not start at the same moment of each minute. */
function isDue({ everyMinutes, lastCheck }: RuleView, now: Date): boolean {
  return lastCheck === null || now.getTime() - lastCheck.checkedAt.getTime() >= (everyMinutes - 0.5) * minuteMs;
}

type RuleCheckOf = { rule: RuleView; open: readonly Alarm[]; now: Date };

async function checkRule(checking: Checking, { rule, open, now }: RuleCheckOf): Promise<void> {
  const { database, logger, surroundings } = checking;
  const check = { rule: rule.name, checkedAt: now };
  try {
    const read = ruleReaders[rule.name];
    const reading = await readBriefly(database, readMsMax, (tx) => read(tx, surroundings, now));
    const worst = findWorst(rule, reading.measured);
    for (const finding of decideAlarms({ rule, threshold: rule.threshold, open, reading, now })) {
      await applyFinding(checking, rule.name, { finding, now });
    }
    await putCheck(database, { ...check, value: worst?.value ?? null, subject: worst?.subject ?? null, trouble: null });
  } catch (error) {
    // One rule that cannot be read must not keep the others from being read.
    logger.error({ rule: rule.name, error }, "alarm rule not read");
    const trouble = error instanceof Error ? error.message.slice(0, 500) : String(error).slice(0, 500);
    await putCheck(database, { ...check, value: null, subject: null, trouble });
  }
}

type FindingOf = { finding: Finding; now: Date };

async function applyFinding(checking: Checking, rule: string, { finding, now }: FindingOf): Promise<void> {
  const { subject, alarm, measured, events } = finding;
  let id = alarm?.id ?? null;
  for (const event of events) id = await applyEvent(checking, { id, rule, subject, event, measured, note: null, now });
  if (events.length > 0 && measured !== null && alarm !== null) {
    await updateMeasured(checking.database, { ...alarm, ...measured, metAt: now });
  }
}

type Application = {
  id: Alarm["id"] | null;
  rule: string;
  subject: string;
  event: AlarmEvent;
  measured: Measured | null;
  note: string | null;
  now: Date;
};

/** One transition with its history and its notifications. Returns the alarm that is open after it. */
async function applyEvent(checking: Checking, application: Application): Promise<Alarm["id"] | null> {
  const { event, measured, note, now } = application;
  return await inTransaction(checking.database, async (tx) => {
    const known = application.id === null ? null : await lockAlarm(tx, application.id);
    // An operator may have changed it since it was read.
    const step = findStep(known?.state ?? "ok", event);
    if (step === "ignore" || step === "impossible") return known?.id ?? null;
    if (step.to === "ok") {
      if (known !== null) await deleteAlarm(tx, known.id);
      return null;
    }
    const alarm: Alarm = {
      ...(known ?? startAlarm(checking, application)),
      ...(measured === null ? {} : { value: measured.value, message: measured.message, metAt: now }),
      state: step.to,
      silencedUntil: null,
      endedAt: step.to === "resolved" ? now : null,
    };
    if (known === null && !(await insertAlarm(tx, alarm))) return null;
    if (known !== null) await updateAlarm(tx, alarm);
    const number = await insertAlarmEvent(tx, alarm.id, { kind: event, state: step.to, actor, note, createdAt: now });
    if (step.report !== null) await report(tx, checking, { alarm, number, kind: step.report, now });
    return alarm.id;
  });
}

function startAlarm({ ids }: Checking, { rule, subject, measured, now }: Application): Alarm {
  return {
    ...{ id: ids.next("alarm"), rule, subject, state: "pending", value: measured?.value ?? 0 },
    ...{ message: measured?.message ?? "", beganAt: now, metAt: now, silencedUntil: null, endedAt: null },
  };
}

async function report(
  tx: Database,
  { channels, logger, surroundings }: Checking,
  { alarm, number, kind, now }: { alarm: Alarm; number: number; kind: Report; now: Date },
): Promise<void> {
  const rule = findRule(alarm.rule);
  logger.warn({ alarm_id: alarm.id, rule: alarm.rule, subject: alarm.subject, report: kind }, "alarm changed");
  const names: NotificationChannel[] = listChannels(channels);
  const facts = {
    ...{ kind, alarm_id: alarm.id, rule: alarm.rule, subject: alarm.subject, title: rule?.title ?? alarm.rule },
    ...{
      severity: rule?.severity ?? "ticket",
      message: alarm.message,
      value: alarm.value,
      unit: rule?.unit ?? "count",
    },
    ...{ currency: surroundings.currency, run_book: rule?.runBook ?? null },
    ...{ began_at: alarm.beganAt.toISOString(), at: now.toISOString() },
  } as const;
  await insertNotifications(
    tx,
    names.map((channel) => ({ id: `${alarm.id}:${number}:${channel}`, channel })),
    {
      ...{ alarmId: alarm.id, facts, now },
    },
  );
}

async function endAll(checking: Checking, { alarms, note }: { alarms: readonly Alarm[]; note: string }): Promise<void> {
  const now = checking.surroundings.clock.now();
  for (const { id, rule, subject } of alarms) {
    await applyEvent(checking, { id, rule, subject, event: "cleared", measured: null, note, now });
  }
}

import { type Static, Type } from "typebox";
import {
  type Alarm,
  type AlarmEventRecord,
  type AlarmNotification,
  alarmStates,
  findRule,
  listRuleNames,
  type RuleView,
} from "../../alarms/index.ts";
import { createPageSchema, listFields } from "../../usage/index.ts";

const moment = Type.String({ format: "date-time" });
const maybeMoment = Type.Union([moment, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);
const severity = Type.Enum(["page", "ticket"], { description: "`page` wakes you, `ticket` waits until morning." });

const alarmFields = {
  object: Type.Literal("alarm"),
  id: Type.String(),
  rule: Type.String(),
  title: Type.String(),
  severity,
  subject: Type.String({ description: "A model, an upstream, a machine, or `service`." }),
  status: Type.Enum(["firing", "acknowledged", "silenced", "resolved"]),
  value: Type.Number({ description: "Of the last reading that met the rule, in the rule's unit." }),
  message: Type.String(),
  run_book: maybeText,
  began_at: moment,
  met_at: moment,
  silenced_until: maybeMoment,
  ended_at: maybeMoment,
};

export const alarmSchema = Type.Object(alarmFields);

export const alarmDetailSchema = Type.Object({
  ...alarmFields,
  history: Type.Array(
    Type.Object({ event: Type.String(), status: Type.String(), actor: Type.String(), note: maybeText, at: moment }),
  ),
  notifications: Type.Array(
    Type.Object({
      channel: Type.String(),
      status: Type.Enum(["waiting", "sent", "failed"]),
      attempts: Type.Integer(),
      trouble: maybeText,
      created_at: moment,
      ended_at: maybeMoment,
    }),
  ),
});

export const alarmListSchema = createPageSchema(alarmSchema);

export const alarmQuerySchema = Type.Object(
  {
    status: Type.Optional(
      Type.Enum(["open", "resolved", "all"], { default: "open", description: "`open`: all but resolved ones." }),
    ),
    rule: Type.Optional(Type.Enum(listRuleNames())),
    ...listFields("^alarm_[0-9a-z]{1,64}$"),
  },
  { additionalProperties: false },
);

const note = Type.Optional(
  Type.String({ minLength: 1, maxLength: 500, pattern: "^[^\\0]*$", description: "For other operators." }),
);

export const acknowledgeSchema = Type.Object({ note }, { additionalProperties: false });
export const silenceSchema = Type.Object(
  { until: Type.String({ maxLength: 40, examples: ["2027-01-01T00:00:00Z"] }), note },
  { additionalProperties: false },
);

export const ruleSchema = Type.Object({
  object: Type.Literal("alarm_rule"),
  id: Type.String(),
  title: Type.String(),
  severity,
  reads: Type.String(),
  unit: Type.String(),
  met_by: Type.Enum(["above", "below"]),
  enabled: Type.Boolean(),
  threshold: Type.Number(),
  default_threshold: Type.Number(),
  threshold_min: Type.Number(),
  threshold_max: Type.Number(),
  run_book: Type.String(),
  changed_by: maybeText,
  last_reading: Type.Union([
    Type.Object({
      at: moment,
      value: Type.Union([Type.Number(), Type.Null()]),
      subject: maybeText,
      trouble: maybeText,
    }),
    Type.Null(),
  ]),
});

export const ruleListSchema = Type.Object({ object: Type.Literal("list"), data: Type.Array(ruleSchema) });

export const ruleChangeSchema = Type.Object(
  {
    enabled: Type.Optional(Type.Boolean()),
    threshold: Type.Optional(Type.Union([Type.Number(), Type.Null()], { description: "`null` restores the default." })),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** The states of a status filter. */
export function listStates(status: "open" | "resolved" | "all") {
  const shown = alarmStates.filter((state) => state !== "pending");
  if (status === "all") return shown;
  return shown.filter((state) => (state === "resolved") === (status === "resolved"));
}

export function presentAlarm(alarm: Alarm): Static<typeof alarmSchema> {
  const rule = findRule(alarm.rule);
  return {
    ...{ object: "alarm", id: alarm.id, rule: alarm.rule, title: rule?.title ?? alarm.rule },
    ...{ severity: rule?.severity ?? "ticket", subject: alarm.subject, value: alarm.value, message: alarm.message },
    // Pending alarms are not listed.
    status: alarm.state === "pending" ? "firing" : alarm.state,
    run_book: rule === null ? null : presentRunBook(rule.runBook),
    began_at: alarm.beganAt.toISOString(),
    met_at: alarm.metAt.toISOString(),
    silenced_until: alarm.silencedUntil?.toISOString() ?? null,
    ended_at: alarm.endedAt?.toISOString() ?? null,
  };
}

export function presentAlarmDetail(
  alarm: Alarm,
  history: readonly AlarmEventRecord[],
  notifications: readonly AlarmNotification[],
): Static<typeof alarmDetailSchema> {
  return {
    ...presentAlarm(alarm),
    history: history.map(({ kind, state, actor, note: text, createdAt }) => ({
      ...{ event: kind, status: state, actor, note: text, at: createdAt.toISOString() },
    })),
    notifications: notifications.map(({ channel, state, attempts, trouble, createdAt, endedAt }) => ({
      ...{ channel, status: state, attempts, trouble },
      created_at: createdAt.toISOString(),
      ended_at: endedAt?.toISOString() ?? null,
    })),
  };
}

export function presentRule(rule: RuleView): Static<typeof ruleSchema> {
  const { lastCheck } = rule;
  return {
    ...{ object: "alarm_rule", id: rule.name, title: rule.title, severity: rule.severity, reads: rule.reads },
    ...{ unit: rule.unit, met_by: rule.isMetBy, enabled: rule.isOn, threshold: rule.threshold },
    ...{ default_threshold: rule.defaultThreshold, threshold_min: rule.bounds.min, threshold_max: rule.bounds.max },
    run_book: presentRunBook(rule.runBook),
    changed_by: rule.changed?.by ?? null,
    last_reading:
      lastCheck === null
        ? null
        : {
            at: lastCheck.checkedAt.toISOString(),
            ...{ value: lastCheck.value, subject: lastCheck.subject, trouble: lastCheck.trouble },
          },
  };
}

function presentRunBook(section: string): string {
  return `docs/operating/${section}`;
}

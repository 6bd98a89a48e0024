import {
  type Alarm,
  acknowledgeAlarm,
  changeRule,
  describeRules,
  findAlarm,
  listAlarmEvents,
  listAlarms,
  listNotifications,
  type RuleView,
  silenceAlarm,
} from "../features/alarms/index.ts";
import { AppError } from "../platform/errors/app-error.ts";
import type { Command } from "./command.ts";
import { getActor } from "./get-acting.ts";
import { createWrongValue, readEnd, readWord } from "./option-values.ts";
import { presentRows } from "./present-rows.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const shownMax = 200;
const openStates = ["firing", "acknowledged", "silenced"] as const;
const noteOption = { note: { placeholder: "text", description: "For other operators." } };

const listCommand: Command = {
  name: "alarm list",
  summary: "List open alarms, newest first.",
  options: { all: { placeholder: "word", description: "yes: with resolved ones. Default: no." } },
  run: ({ options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const states = readWord("all", options.all, "yes") ? ([...openStates, "resolved"] as const) : openStates;
      const alarms = await listAlarms(database, { states, limit: shownMax });
      const rows = alarms.map(({ id, state, rule, message, beganAt }) => [
        ...[id, state, rule, beganAt.toISOString(), message],
      ]);
      return {
        json: alarms.map(presentAlarmJson),
        text: rows.length === 0 ? "No alarms." : presentRows(["ID", "STATE", "RULE", "SINCE", "MESSAGE"], rows),
      };
    }),
};

const showCommand: Command = {
  name: "alarm show",
  summary: "Show an alarm with its history and what was reported.",
  positionals: ["alarm id"],
  run: ({ positionals: [id = ""], terminal }) =>
    withDatabase(terminal, async (database) => {
      const alarm = await findAlarm(database, id);
      if (alarm === null) throw new AppError("not_found", `There is no alarm ${id}.`);
      const events = await listAlarmEvents(database, id);
      const notifications = await listNotifications(database, id);
      const history = events.map(({ createdAt, kind, state, actor, note }) => [
        ...[createdAt.toISOString(), kind, state, actor, note ?? ""],
      ]);
      const reports = notifications.map((one) => [
        ...[one.createdAt.toISOString(), one.channel, one.state, String(one.attempts), one.trouble ?? ""],
      ]);
      return {
        json: {
          ...presentAlarmJson(alarm),
          history: events.map(({ createdAt, ...event }) => ({ ...event, at: createdAt.toISOString() })),
          notifications: notifications.map(({ createdAt, endedAt, ...one }) => ({
            ...{ ...one, created_at: createdAt.toISOString(), ended_at: endedAt?.toISOString() ?? null },
          })),
        },
        text: [
          `${alarm.rule} (${alarm.subject}): ${alarm.message}`,
          presentRows(["TIME", "EVENT", "STATE", "BY", "NOTE"], history),
          reports.length === 0
            ? "Nothing was reported."
            : presentRows(["TIME", "CHANNEL", "STATE", "ATTEMPTS", "TROUBLE"], reports),
        ].join("\n\n"),
      };
    }),
};

const acknowledgeCommand: Command = {
  name: "alarm acknowledge",
  summary: "Say that you take care of an alarm.",
  positionals: ["alarm id"],
  options: noteOption,
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const by = { actor: getActor(), note: options.note ?? null };
      const alarm = await acknowledgeAlarm({ ...systemDependencies, database }, id, by);
      return { json: presentAlarmJson(alarm), text: `${id} is ${alarm.state}.` };
    }),
};

const silenceCommand: Command = {
  name: "alarm silence",
  summary: "Report nothing about an alarm for a while. If its rule is still met then, it fires again.",
  positionals: ["alarm id"],
  options: {
    until: {
      placeholder: "time",
      description: "30m, 2h, 7d, or a time such as 2027-01-01T00:00:00Z.",
      isRequired: true,
    },
    ...noteOption,
  },
  run: ({ positionals: [id = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      const until = readEnd("until", options.until ?? "");
      const by = { actor: getActor(), note: options.note ?? null, until };
      const alarm = await silenceAlarm({ ...systemDependencies, database }, id, by);
      return { json: presentAlarmJson(alarm), text: `${id} is silenced until ${until.toISOString()}.` };
    }),
};

const rulesCommand: Command = {
  name: "alarm rules",
  summary: "List the alarm rules with their thresholds and last readings.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const rules = await describeRules(database);
      const rows = rules.map((rule) => [
        ...[rule.name, rule.isOn ? rule.severity : "off", presentThreshold(rule)],
        ...[rule.lastCheck?.trouble ?? String(rule.lastCheck?.value ?? "-"), rule.title],
      ]);
      return {
        json: rules.map(presentRuleJson),
        text: presentRows(["RULE", "SEVERITY", "THRESHOLD", "LAST READING", "MEANING"], rows),
      };
    }),
};

const setCommand: Command = {
  name: "alarm set",
  summary: "Change the threshold of an alarm rule, or switch it off or on.",
  positionals: ["rule"],
  options: {
    threshold: { placeholder: "number", description: "In the rule's unit; default restores it." },
    state: { placeholder: "word", description: "on or off." },
  },
  run: ({ positionals: [name = ""], options, terminal }) =>
    withDatabase(terminal, async (database) => {
      if (options.threshold === undefined && options.state === undefined) {
        throw createWrongValue("threshold", "a number, or set --state");
      }
      const change = { threshold: readThreshold(options.threshold), isOn: readState(options.state) };
      const rule = await changeRule({ ...systemDependencies, database }, name, change, getActor());
      const text = `${rule.name} is ${rule.isOn ? "on" : "off"}, threshold ${presentThreshold(rule)}. In force with the next check.`;
      return { json: presentRuleJson(rule), text };
    }),
};

export const alarmCommands: readonly Command[] = [
  listCommand,
  showCommand,
  acknowledgeCommand,
  silenceCommand,
  rulesCommand,
  setCommand,
];

function readThreshold(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "default") return null;
  if (/^-?\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text);
  throw createWrongValue("threshold", "a number, or default");
}

function readState(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === "on" || text === "off") return text === "on";
  throw createWrongValue("state", "on or off");
}

function presentThreshold({ isMetBy, threshold, unit }: RuleView): string {
  return `${isMetBy} ${threshold} ${unit}`;
}

export function presentAlarmJson(alarm: Alarm): Record<string, unknown> {
  return {
    ...{ id: alarm.id, rule: alarm.rule, subject: alarm.subject, state: alarm.state, value: alarm.value },
    message: alarm.message,
    began_at: alarm.beganAt.toISOString(),
    met_at: alarm.metAt.toISOString(),
    silenced_until: alarm.silencedUntil?.toISOString() ?? null,
    ended_at: alarm.endedAt?.toISOString() ?? null,
  };
}

function presentRuleJson(rule: RuleView): Record<string, unknown> {
  return {
    ...{ name: rule.name, title: rule.title, severity: rule.severity, on: rule.isOn, reads: rule.reads },
    ...{ threshold: rule.threshold, default_threshold: rule.defaultThreshold, unit: rule.unit, met_by: rule.isMetBy },
    run_book: `docs/operating/${rule.runBook}`,
    last_reading:
      rule.lastCheck === null
        ? null
        : {
            at: rule.lastCheck.checkedAt.toISOString(),
            ...{ value: rule.lastCheck.value, subject: rule.lastCheck.subject, trouble: rule.lastCheck.trouble },
          },
  };
}

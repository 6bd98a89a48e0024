/**
 * Alarms: what operators should know before customers tell them.
 *
 * Promises: a job of one gateway reads the rules every minute from tables that exist anyway, so calls pay nothing. A rule and a
 * subject have at most one open alarm, whose state is one value with a table of transitions. Each transition and its
 * notifications commit together, so each is reported once per channel; a channel that fails is retried for a day. A rule that
 * cannot be read neither raises nor ends an alarm.
 */
export { type Alarm, type AlarmEventRecord, alarmStates } from "./alarm.ts";
export { findRule, listRuleNames } from "./alarm-rules.ts";
export {
  type AlarmNotification,
  findAlarm,
  listAlarmEvents,
  listAlarms,
  listNotifications,
} from "./alarm-store.ts";
export { recordBackup } from "./backup-run-store.ts";
export { acknowledgeAlarm, silenceAlarm } from "./change-alarm.ts";
export { changeRule, describeRules, type RuleView } from "./change-rule.ts";
export { type AlarmChannels, checkAlarms } from "./check-alarms.ts";

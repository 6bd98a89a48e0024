export type AlarmUnit = "percent" | "seconds" | "minutes" | "hours" | "amount" | "count" | "gigabytes";

export type AlarmRule = {
  title: string;
  /** `page` wakes you, `ticket` waits until morning. */
  severity: "page" | "ticket";
  /** What is compared with the threshold, and what clears it; for the documents and the page. */
  reads: string;
  unit: AlarmUnit;
  /** Met if the value is above the threshold, or below it. */
  isMetBy: "above" | "below";
  threshold: number;
  bounds: { min: number; max: number };
  /** How long it must be met before it fires, in minutes. */
  forMinutes: number;
  /** How long it must not be met before it is resolved. */
  clearMinutes: number;
  /** How often it is read. */
  everyMinutes: number;
  /** The section in docs/operating that says what to do. */
  runBook: string;
};

const usual = { isMetBy: "above", forMinutes: 0, clearMinutes: 5, everyMinutes: 1 } as const;
const percent = { unit: "percent", bounds: { min: 0, max: 100 } } as const;
const seconds = { unit: "seconds", bounds: { min: 1, max: 604_800 } } as const;
const count = { unit: "count", bounds: { min: 0, max: 1_000_000 } } as const;

/** Every alarm rule. Operators may change the threshold and switch a rule off. */
const alarmRules = {
  "negative-margin": {
    ...usual,
    title: "A model is sold below cost",
    severity: "ticket",
    reads: "Loss in 24 hours in percent of a model's revenue from balances, from the margin report.",
    ...percent,
    bounds: { min: -100, max: 1000 },
    threshold: 0,
    everyMinutes: 15,
    clearMinutes: 30,
    runBook: "run-book.md#sluicesoldbelowcost",
  },
  "uncharged-cost": {
    ...usual,
    title: "Work costs you money without a charge",
    severity: "ticket",
    reads: "What upstreams charged in 24 hours for calls without a charge: free models, failed calls, parts of dramas.",
    unit: "amount",
    bounds: { min: 0, max: 1_000_000_000 },
    threshold: 50,
    everyMinutes: 15,
    clearMinutes: 30,
    runBook: "run-book.md#sluiceworkuncharged",
  },
  "model-errors": {
    ...usual,
    title: "Calls of a model fail",
    severity: "page",
    reads: "Share of a model's calls in 10 minutes that failed with a 5xx or broke off, from 20 calls on.",
    ...percent,
    threshold: 20,
    runBook: "run-book.md#sluiceerrors",
  },
  "upstream-errors": {
    ...usual,
    title: "Calls to an upstream fail",
    severity: "ticket",
    reads:
      "Share of attempts at an upstream in 10 minutes that failed, from 20 attempts on. Callers' own mistakes don't count.",
    ...percent,
    threshold: 20,
    runBook: "run-book.md#sluiceupstreamfailing",
  },
  "circuit-open": {
    ...usual,
    title: "A circuit is open",
    severity: "ticket",
    reads:
      "Gateway processes that have stopped calling a model of an upstream, for 5 minutes. Switched-off upstreams don't count.",
    ...count,
    threshold: 0,
    forMinutes: 5,
    runBook: "run-book.md#sluiceupstreamaway",
  },
  "vendor-balance": {
    ...usual,
    title: "A vendor balance is low",
    severity: "page",
    reads:
      "The balance of your account at a vendor, in its currency. A provider's `balance_low` replaces the threshold. Older than 6 hours: not read.",
    unit: "count",
    isMetBy: "below",
    bounds: { min: 0, max: 1_000_000_000 },
    threshold: 10,
    everyMinutes: 5,
    runBook: "alarms.md#a-vendor-balance-is-low",
  },
  "tasks-due": {
    ...usual,
    title: "Due tasks wait for a worker",
    severity: "page",
    reads: "How long the oldest due task has waited.",
    ...seconds,
    threshold: 120,
    runBook: "run-book.md#sluicetaskswait",
  },
  "tasks-queued": {
    ...usual,
    title: "A task is queued for long",
    severity: "ticket",
    reads: "Age of the oldest queued task.",
    ...seconds,
    threshold: 1800,
    runBook: "run-book.md#sluicetasksqueued",
  },
  "webhooks-due": {
    ...usual,
    title: "Webhooks are late",
    severity: "ticket",
    reads: "How long the oldest due delivery has waited to be sent.",
    ...seconds,
    threshold: 120,
    runBook: "run-book.md#sluicedeliverieswait",
  },
  "webhooks-failing": {
    ...usual,
    title: "Webhooks of several customers fail",
    severity: "ticket",
    reads:
      "Share of attempts in an hour that failed, from 20 attempts and 3 accounts with failures on: one customer's server is that customer's.",
    ...percent,
    threshold: 50,
    everyMinutes: 5,
    clearMinutes: 15,
    runBook: "alarms.md#webhooks-fail",
  },
  "holds-overdue": {
    ...usual,
    title: "Holds have not ended",
    severity: "ticket",
    reads: "How long the oldest open hold is past its end. The job sweep-ledger releases it within a minute.",
    unit: "minutes",
    bounds: { min: 1, max: 100_000 },
    threshold: 15,
    runBook: "alarms.md#holds-do-not-end",
  },
  "jobs-late": {
    ...usual,
    title: "A scheduled job does not run",
    severity: "ticket",
    reads: "How long a job has been due.",
    unit: "minutes",
    bounds: { min: 1, max: 100_000 },
    threshold: 15,
    runBook: "run-book.md#sluicejobfails",
  },
  "accounts-frozen": {
    ...usual,
    title: "The ledger check froze accounts",
    severity: "page",
    reads: "Frozen accounts. Clears when you have unfrozen them.",
    ...count,
    threshold: 0,
    clearMinutes: 0,
    runBook: "run-book.md#sluiceledgerviolation",
  },
  "disk-space": {
    ...usual,
    title: "The disk is nearly full",
    severity: "page",
    reads:
      "Free space of data_dir: the embedded database and stored files. Each machine is read when one of its gateways runs the check.",
    unit: "gigabytes",
    isMetBy: "below",
    bounds: { min: 0, max: 100_000 },
    threshold: 2,
    clearMinutes: 10,
    runBook: "alarms.md#disk-is-nearly-full",
  },
  "replication-lag": {
    ...usual,
    title: "A replica of the database is behind",
    severity: "ticket",
    reads: "Replay lag of a replica that streams from the primary. Needs the role pg_monitor.",
    ...seconds,
    threshold: 60,
    runBook: "alarms.md#a-replica-is-behind",
  },
  "connection-budget": {
    ...usual,
    title: "The database is nearly out of connections",
    severity: "page",
    reads:
      "The larger of open connections and processes × database_connections, in percent of max_connections without its reserve.",
    ...percent,
    bounds: { min: 1, max: 1000 },
    threshold: 90,
    runBook: "alarms.md#connections-run-out",
  },
  "backup-age": {
    ...usual,
    title: "The last backup is old",
    severity: "ticket",
    reads:
      "Age of the newest backup that sluicectl has made. With an external database or a sandbox, only once there is one.",
    unit: "hours",
    bounds: { min: 1, max: 10_000 },
    threshold: 26,
    everyMinutes: 15,
    clearMinutes: 0,
    runBook: "alarms.md#backups-are-old",
  },
  "archive-failing": {
    ...usual,
    title: "The log archive fails",
    severity: "page",
    reads: "How long the database has failed to archive its log (wal_archive).",
    unit: "minutes",
    bounds: { min: 1, max: 100_000 },
    threshold: 10,
    runBook: "alarms.md#backups-are-old",
  },
  "requests-lost": {
    ...usual,
    title: "Calls are missing from the request log",
    severity: "ticket",
    reads: "Calls that could not be logged, of gaps in the last hour.",
    ...count,
    threshold: 0,
    runBook: "alarms.md#calls-are-missing-from-the-log",
  },
} as const satisfies Record<string, AlarmRule>;

export type RuleName = keyof typeof alarmRules;

export function listRuleNames(): RuleName[] {
  return Object.keys(alarmRules) as RuleName[];
}

export function isRuleName(word: string): word is RuleName {
  return Object.hasOwn(alarmRules, word);
}

export function getRule(name: RuleName): AlarmRule {
  return alarmRules[name];
}

/** `null` for a rule of another version. */
export function findRule(word: string): AlarmRule | null {
  return isRuleName(word) ? alarmRules[word] : null;
}

/** A value with its unit, as in messages. */
export function presentValue(value: number, unit: AlarmUnit, currency: string): string {
  const number = Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1);
  if (unit === "percent") return `${number} %`;
  if (unit === "amount") return `${value.toFixed(2)} ${currency}`;
  if (unit === "count") return number;
  return `${number} ${unit === "gigabytes" ? "GB" : unit}`;
}

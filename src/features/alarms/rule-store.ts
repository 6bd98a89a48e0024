import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";

/** What operators changed about a rule. */
type StoredRule = { rule: string; isOn: boolean; threshold: number | null; changedAt: Date; changedBy: string };

export type RuleCheck = {
  rule: string;
  checkedAt: Date;
  value: number | null;
  subject: string | null;
  trouble: string | null;
};

export async function listStoredRules(database: Database): Promise<Map<string, StoredRule>> {
  const { rows } = await sql<StoredRule>`
    select rule, is_on as "isOn", threshold_milli::float8 / 1000 as threshold, changed_at as "changedAt", changed_by as "changedBy" from alarm_rules`.execute(
    database,
  );
  return new Map(rows.map((row) => [row.rule, row]));
}

export async function putStoredRule(database: Database, stored: StoredRule): Promise<void> {
  await sql`
    insert into alarm_rules (rule, is_on, threshold_milli, changed_at, changed_by)
      values (${stored.rule}, ${stored.isOn}, ${toMilli(stored.threshold)}, ${stored.changedAt}, ${stored.changedBy})
      on conflict (rule) do update set is_on = excluded.is_on, threshold_milli = excluded.threshold_milli,
        changed_at = excluded.changed_at, changed_by = excluded.changed_by`.execute(database);
}

export async function listChecks(database: Database): Promise<Map<string, RuleCheck>> {
  const { rows } = await sql<RuleCheck>`
    select rule, checked_at as "checkedAt", value_milli::float8 / 1000 as value, subject, trouble from alarm_checks`.execute(
    database,
  );
  return new Map(rows.map((row) => [row.rule, row]));
}

export async function putCheck(
  database: Database,
  { rule, checkedAt, value, subject, trouble }: RuleCheck,
): Promise<void> {
  await sql`
    insert into alarm_checks (rule, checked_at, value_milli, subject, trouble)
      values (${rule}, ${checkedAt}, ${toMilli(value)}, ${subject}, ${trouble})
      on conflict (rule) do update set checked_at = excluded.checked_at, value_milli = excluded.value_milli,
        subject = excluded.subject, trouble = excluded.trouble`.execute(database);
}

/** Stored values are whole numbers of thousandths: no column has a floating-point number. */
export function toMilli(value: number | null): bigint | null {
  return value === null ? null : BigInt(Math.round(value * 1000));
}

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
    select rule, is_on as "isOn", threshold, changed_at as "changedAt", changed_by as "changedBy" from alarm_rules`.execute(
    database,
  );
  return new Map(rows.map((row) => [row.rule, row]));
}

export async function putStoredRule(database: Database, stored: StoredRule): Promise<void> {
  await sql`
    insert into alarm_rules (rule, is_on, threshold, changed_at, changed_by)
      values (${stored.rule}, ${stored.isOn}, ${stored.threshold}, ${stored.changedAt}, ${stored.changedBy})
      on conflict (rule) do update set is_on = excluded.is_on, threshold = excluded.threshold,
        changed_at = excluded.changed_at, changed_by = excluded.changed_by`.execute(database);
}

export async function listChecks(database: Database): Promise<Map<string, RuleCheck>> {
  const { rows } = await sql<RuleCheck>`
    select rule, checked_at as "checkedAt", value, subject, trouble from alarm_checks`.execute(database);
  return new Map(rows.map((row) => [row.rule, row]));
}

export async function putCheck(
  database: Database,
  { rule, checkedAt, value, subject, trouble }: RuleCheck,
): Promise<void> {
  await sql`
    insert into alarm_checks (rule, checked_at, value, subject, trouble)
      values (${rule}, ${checkedAt}, ${value}, ${subject}, ${trouble})
      on conflict (rule) do update set checked_at = excluded.checked_at, value = excluded.value,
        subject = excluded.subject, trouble = excluded.trouble`.execute(database);
}

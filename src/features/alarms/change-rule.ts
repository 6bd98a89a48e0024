import type { Clock } from "../../lib/clock.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type AlarmRule, getRule, isRuleName, listRuleNames, type RuleName } from "./alarm-rules.ts";
import { listChecks, listStoredRules, putStoredRule, type RuleCheck } from "./rule-store.ts";

export type RuleView = AlarmRule & {
  name: RuleName;
  isOn: boolean;
  /** In force: the stored one, else the default. */
  threshold: number;
  defaultThreshold: number;
  changed: { at: Date; by: string } | null;
  lastCheck: RuleCheck | null;
};

/** Every rule as it is in force, with its last reading. */
export async function describeRules(database: Database): Promise<RuleView[]> {
  const stored = await listStoredRules(database);
  const checks = await listChecks(database);
  return listRuleNames().map((name) => {
    const rule = getRule(name);
    const own = stored.get(name);
    return {
      ...rule,
      name,
      isOn: own?.isOn ?? true,
      threshold: own?.threshold ?? rule.threshold,
      defaultThreshold: rule.threshold,
      changed: own === undefined ? null : { at: own.changedAt, by: own.changedBy },
      lastCheck: checks.get(name) ?? null,
    };
  });
}

/** A `threshold` of `null` is the default. What is left out stays. */
type RuleChange = { isOn?: boolean | undefined; threshold?: number | null | undefined };

/** Takes effect with the next check. A rule that is switched off ends its alarms. */
export async function changeRule(
  { database, clock }: { database: Database; clock: Clock },
  word: string,
  { isOn, threshold }: RuleChange,
  actor: string,
): Promise<RuleView> {
  if (!isRuleName(word)) {
    const message = `There is no alarm rule ${word}. The rules are ${listRuleNames().join(", ")}.`;
    throw new AppError("not_found", message, { param: "rule" });
  }
  const { bounds } = getRule(word);
  if (threshold != null && !(threshold >= bounds.min && threshold <= bounds.max)) {
    throw new AppError("invalid_parameter", `The threshold must be from ${bounds.min} to ${bounds.max}.`, {
      param: "threshold",
    });
  }
  return await inTransaction(database, async (tx) => {
    const known = (await listStoredRules(tx)).get(word);
    await putStoredRule(tx, {
      rule: word,
      isOn: isOn ?? known?.isOn ?? true,
      threshold: threshold === undefined ? (known?.threshold ?? null) : threshold,
      changedAt: clock.now(),
      changedBy: actor,
    });
    const view = (await describeRules(tx)).find(({ name }) => name === word);
    if (view === undefined) throw new AppError("not_found", `There is no alarm rule ${word}.`, { param: "rule" });
    return view;
  });
}

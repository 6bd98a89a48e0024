import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findAccount } from "../accounts/index.ts";
import { addUsage, countItems, noUsage, type UsageSums } from "./count-items.ts";
import { type AskedPeriod, parsePeriod } from "./parse-period.ts";
import { cutTime } from "./time-buckets.ts";
import { type ChargeGroup, sumCharges } from "./usage-store.ts";

export const usageGroups = ["day", "hour", "model", "key"] as const;
export type UsageGroup = (typeof usageGroups)[number];

export type UsageQuestion = AskedPeriod & {
  accountId: AccountId;
  groupBy: ReadonlySet<UsageGroup>;
  model: string | null;
  keyId: string | null;
};

/** Contains only the fields that it is grouped by. */
export type UsageRow = UsageSums & { bucket?: { from: Date; to: Date }; model?: string | null; keyId?: string | null };

export type Usage = { timeZone: string; from: Date; to: Date; rows: UsageRow[]; total: UsageSums };

const groupsMax = 20_000;

/** Sums the account's charges by day or hour of its time zone, model and key. */
export async function sumUsage(
  { database, clock }: { database: Database; clock: Clock },
  question: UsageQuestion,
): Promise<Usage> {
  const { accountId, groupBy, model, keyId } = question;
  const cut = decideCut(groupBy);
  const timeZone = await readTimeZone(database, accountId);
  const { from, to } = parsePeriod(question, { timeZone, now: clock.now(), cut });
  const boundaries = cut === null ? [from, to] : cutTime(cut, { from, to, timeZone });
  const by = { model: groupBy.has("model"), key: groupBy.has("key") };
  const groups = await sumCharges(database, { accountId, boundaries, by, model, keyId, groupsMax: groupsMax + 1 });
  if (groups.length > groupsMax) {
    throw new AppError("invalid_parameter", "The result has too many rows. Choose a shorter period or fewer groups.", {
      param: "group_by",
    });
  }
  const total = groups.map(sumGroup).reduce(addUsage, noUsage);
  return { timeZone, from, to, rows: arrangeRows(groups, { boundaries, groupBy, isCut: cut !== null }), total };
}

export async function readTimeZone(database: Database, accountId: AccountId): Promise<string> {
  const account = await findAccount(database, accountId);
  invariant(account !== null, `the caller's account ${accountId} does not exist`);
  return account.timeZone;
}

function decideCut(groupBy: ReadonlySet<UsageGroup>): "day" | "hour" | null {
  if (groupBy.has("day") && groupBy.has("hour")) {
    throw new AppError("invalid_parameter", "Group by day or by hour, not both.", { param: "group_by" });
  }
  return groupBy.has("hour") ? "hour" : groupBy.has("day") ? "day" : null;
}

/** A row merges groups that differ only in their items or in the price version. */
function arrangeRows(
  groups: readonly ChargeGroup[],
  { boundaries, groupBy, isCut }: { boundaries: readonly Date[]; groupBy: ReadonlySet<UsageGroup>; isCut: boolean },
): UsageRow[] {
  const byRow = Map.groupBy(groups, ({ bucket, model, keyId }) => JSON.stringify([bucket, model, keyId]));
  const rows = [...byRow.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ first, sums: others.map(sumGroup).reduce(addUsage, sumGroup(first)) }],
  );
  return rows
    .toSorted((a, b) => compareGroups(a.first, b.first))
    .map(({ first: { bucket, model, keyId }, sums }) => {
      const [from, to] = [boundaries[bucket - 1], boundaries[bucket]];
      invariant(from !== undefined && to !== undefined, `there is no bucket ${bucket}`);
      return {
        ...sums,
        ...(isCut ? { bucket: { from, to } } : {}),
        ...(groupBy.has("model") ? { model } : {}),
        ...(groupBy.has("key") ? { keyId } : {}),
      };
    });
}

function sumGroup({ unit, items, calls, paid }: ChargeGroup): UsageSums {
  const isMoney = unit === "money";
  const quotas = isMoney ? noUsage.quotas : { ...noUsage.quotas, [unit]: paid };
  return { ...countItems(items), calls, charge: isMoney ? paid : 0n, quotas };
}

function compareGroups(a: ChargeGroup, b: ChargeGroup): number {
  return a.bucket - b.bucket || compareTexts(a.model, b.model) || compareTexts(a.keyId, b.keyId);
}

function compareTexts(a: string | null, b: string | null): number {
  const [first, second] = [a ?? "", b ?? ""];
  return first === second ? 0 : first < second ? -1 : 1;
}

import type { Static } from "typebox";
import { findPeriodEnd, findPeriodStart } from "../../../lib/budget.ts";
import type { AccountId } from "../../../lib/ids.ts";
import { type Nano, nano, presentMoney } from "../../../lib/money.ts";
import { type ApiKey, findKeyKind, keyPrefix, listKeyUses } from "../../accounts/index.ts";
import { listKeySpending } from "../../ledger/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import { type keySchema, presentLimits } from "./key-schema.ts";

type ShownKey = Static<typeof keySchema>;

/** Adds last use and spent budget to the keys. */
export async function describeKeys(
  { database, clock }: SiteDependencies,
  accountId: AccountId,
  keys: readonly ApiKey[],
): Promise<ShownKey[]> {
  const now = clock.now();
  const keyIds = keys.map(({ id }) => id);
  const findPeriod = ({ lineageId, budget }: ApiKey) =>
    budget === null ? null : { keyId: lineageId, startsAt: findPeriodStart(budget.period, now) };
  const periods = keys.flatMap((key) => findPeriod(key) ?? []);
  const [uses, describeSpent] = await Promise.all([
    listKeyUses(database, keyIds),
    listKeySpending(database, accountId, periods),
  ]);
  return keys.map((key) => {
    const period = findPeriod(key);
    const spent = period === null ? nano(0n) : describeSpent(period);
    return presentKey(key, { lastUsedAt: uses.get(key.id) ?? null, spent, now });
  });
}

export async function describeKey(dependencies: SiteDependencies, key: ApiKey): Promise<ShownKey> {
  const [shown] = await describeKeys(dependencies, key.accountId, [key]);
  return shown as ShownKey;
}

function presentKey(
  key: ApiKey,
  { lastUsedAt, spent, now }: { lastUsedAt: Date | null; spent: Nano; now: Date },
): ShownKey {
  const kind = findKeyKind(key);
  return {
    object: "api_key",
    id: key.id,
    name: key.name,
    kind,
    preview: kind === "console" ? null : `${keyPrefix}…${key.lastFour}`,
    created: toSeconds(key.createdAt),
    last_used: lastUsedAt === null ? null : toSeconds(lastUsedAt),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    models: copy(key.modelIds),
    endpoints: copy(key.endpoints),
    addresses: copy(key.addresses),
    budget:
      key.budget === null
        ? null
        : {
            amount: presentMoney(key.budget.amount),
            period: key.budget.period,
            spent: presentMoney(spent),
            resets_at: findPeriodEnd(key.budget.period, now)?.toISOString() ?? null,
          },
    limits: presentLimits(key.limits),
    content_log: key.logsContent,
  };
}

function copy(items: readonly string[] | null): string[] | null {
  return items === null ? null : [...items];
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

import type { AccountId } from "../../lib/ids.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { type Catalog, findPriceOf, type Price } from "../catalog/index.ts";
import { scanCharges, separator } from "./charge-scan-store.ts";
import { createRebiller, type Rebiller } from "./create-rebiller.ts";

/** Sums of charges as they were, and as a draft would have made them. */
export type Comparison = { calls: number; billed: Nano; simulated: Nano; cost: Nano };

export type Simulation = Comparison & {
  /** Charges that keep their amount, because their stored usage does not decide the draft's. */
  kept: number;
  models: ReadonlyMap<string, Comparison>;
  accounts: ReadonlyMap<AccountId, Comparison>;
};

type SimulatedCatalog = Pick<Catalog, "models" | "prices" | "multipliers">;

/**
 * Bills past charges of money again, from their stored quantities and marks, at the prices and multipliers that a draft has in
 * force now. Writes nothing. Each price is prepared once for all charges of an account with the same items.
 */
export async function simulateCatalog(
  database: Database,
  draft: SimulatedCatalog,
  { since, now, planIds }: { since: Date; now: Date; planIds: ReadonlyMap<AccountId, string | null> },
): Promise<Simulation> {
  const findPrice = (accountId: AccountId, modelId: string | null, capability: string | null): Price | null =>
    modelId === null
      ? null
      : findPriceOf(draft, { modelId, capability, accountId, planId: planIds.get(accountId) ?? null, now });
  const rebillers = new Map<string, Rebiller>();
  const total = createSums();
  const models = new Map<string, Sums>();
  const accounts = new Map<AccountId, Sums>();
  let kept = 0;
  await scanCharges(database, since, (charges) => {
    for (const { account, model, capability, names, quantities: joined, billed } of charges) {
      const key = `${account} ${model} ${capability} ${names}`;
      const rebiller =
        rebillers.get(key) ?? createRebiller(names.split(separator), findPrice(account, model, capability));
      rebillers.set(key, rebiller);
      const quantities = joined === "" ? [] : joined.split(",").map(BigInt);
      const again = rebiller.rebill(quantities);
      if (again === null) kept += 1;
      const cost = rebiller.sumCost(quantities);
      for (const sums of [total, getSums(models, model ?? ""), getSums(accounts, account)]) {
        sums.calls += 1;
        sums.billed += billed;
        sums.simulated += again ?? billed;
        sums.cost += cost;
      }
    }
  });
  return { ...present(total), kept, models: mapSums(models), accounts: mapSums(accounts) };
}

type Sums = { calls: number; billed: bigint; simulated: bigint; cost: bigint };

function createSums(): Sums {
  return { calls: 0, billed: 0n, simulated: 0n, cost: 0n };
}

function getSums<K>(all: Map<K, Sums>, key: K): Sums {
  const known = all.get(key) ?? createSums();
  all.set(key, known);
  return known;
}

function present({ calls, billed, simulated, cost }: Sums): Comparison {
  return { calls, billed: nano(billed), simulated: nano(simulated), cost: nano(cost) };
}

function mapSums<K>(all: ReadonlyMap<K, Sums>): Map<K, Comparison> {
  return new Map([...all].map(([key, sums]) => [key, present(sums)]));
}

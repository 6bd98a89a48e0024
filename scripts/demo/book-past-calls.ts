import type { Ledger } from "../../src/features/ledger/index.ts";
import { type Bill, computeCharge } from "../../src/lib/bill.ts";
import type { KeyBudget } from "../../src/lib/budget.ts";
import type { AccountId, IdSource, KeyId } from "../../src/lib/ids.ts";
import { invariant } from "../../src/lib/invariant.ts";
import { type Nano, nano } from "../../src/lib/money.ts";
import type { Database } from "../../src/platform/database/database.ts";
import type { PastCall, TeamName } from "./demo-teams.ts";
import type { PaidCall } from "./log-past-calls.ts";

const hourMs = 60 * 60_000;

/** Prices per thousand tokens. */
export type PastPrice = { id: string; input: Nano; cachedInput: Nano; output: Nano };

export type TeamKey = { id: KeyId; budget: KeyBudget | null };

type Books = {
  ledger: Pick<Ledger, "apply">;
  ids: IdSource;
  accountId: AccountId;
  prices: ReadonlyMap<string, PastPrice>;
  keys: ReadonlyMap<TeamName, TeamKey>;
  /** Called for each key with the time of its calls. */
  noteKeyUse(keyId: KeyId, at: Date): void;
};

/**
 * Books calls of one moment through the ledger, each with a hold and a charge, as the gateway does. Without upstream
 * calls, thousands take seconds. Returns the charges.
 */
export async function bookPastCalls(books: Books, calls: readonly PastCall[], at: Date): Promise<PaidCall[]> {
  const { ledger, ids, accountId, prices, keys, noteKeyUse } = books;
  const works = calls.map((call) => {
    const [price, key] = [prices.get(call.model), keys.get(call.team)];
    invariant(price !== undefined && key !== undefined, `${call.model} has no price, or ${call.team} no key`);
    return { call, holdId: ids.next("hold"), requestId: ids.next("req"), key, bill: billCall(call, price) };
  });
  const expiresAt = new Date(at.getTime() + hourMs);
  const holds = works.map(({ holdId, requestId, key: { id: keyId, budget }, bill }) => {
    const cause = { kind: "request" as const, id: requestId };
    // A hold covers the maximum cost.
    const amount = nano(computeCharge(bill) * 2n + 1n);
    return { kind: "hold" as const, id: holdId, accountId, amount, quota: null, keyId, budget, cause, expiresAt };
  });
  for (const { kind } of await Promise.all(holds.map((hold) => ledger.apply(hold)))) {
    invariant(kind === "held", `a call of the past could not be paid: ${kind}`);
  }
  const ends = works.map(({ holdId, key, bill }) => {
    const budgetAmount = key.budget?.amount ?? null;
    return { kind: "settle" as const, accountId, holdId, bill, overrun: "refuse" as const, budgetAmount };
  });
  for (const { kind } of await Promise.all(ends.map((end) => ledger.apply(end)))) {
    invariant(kind === "settled", `a call of the past could not be charged: ${kind}`);
  }
  for (const { key } of works) noteKeyUse(key.id, at);
  return works.map(({ call, holdId, requestId, key, bill }) => {
    const chargeId = `txn_${holdId.slice("hold_".length)}`;
    return { call, requestId, keyId: key.id, charge: computeCharge(bill), chargeId };
  });
}

function billCall({ wire, inputTokens, cachedInputTokens, outputTokens }: PastCall, price: PastPrice): Bill {
  const read = { name: "input_tokens", quantity: BigInt(inputTokens - cachedInputTokens), rate: price.input };
  const written = [
    { name: "cached_input_tokens", quantity: BigInt(cachedInputTokens), rate: price.cachedInput },
    { name: "output_tokens", quantity: BigInt(outputTokens), rate: price.output },
  ];
  return {
    priceId: price.id,
    items: wire === "embeddings" ? [read] : [read, ...written],
    per: 1000n,
    minimum: nano(0n),
    quotaUnits: BigInt(inputTokens + outputTokens),
  };
}

/** The current prices of models billed by token. */
export async function readPastPrices(database: Database): Promise<Map<string, PastPrice>> {
  const rows = await database
    .selectFrom("prices")
    .select(["id", "model_id", "input_price_nano", "cached_input_price_nano", "output_price_nano"])
    .where("billing_type", "=", "token")
    .orderBy("created_at")
    .execute();
  return new Map(
    rows.map((row) => {
      const input = nano(row.input_price_nano ?? 0n);
      const cachedInput = nano(row.cached_input_price_nano ?? input);
      return [row.model_id, { id: row.id, input, cachedInput, output: nano(row.output_price_nano ?? 0n) }];
    }),
  );
}

import { randomBytes } from "node:crypto";
import { createApiKey } from "../../../src/features/accounts/index.ts";
import { applyWithin } from "../../../src/features/ledger/apply-within.ts";
import { bookCredit, type CreditRequest } from "../../../src/features/ledger/index.ts";
import type { Cause, Unit } from "../../../src/features/ledger/ledger-state.ts";
import type { AccountId, HoldId } from "../../../src/lib/ids.ts";
import { invariant } from "../../../src/lib/invariant.ts";
import { type Nano, parseMoney } from "../../../src/lib/money.ts";
import { inTransaction } from "../../../src/platform/database/database.ts";
import type { BrowsedSite } from "../site/browsed-site.ts";

type PastWork = {
  at: Date;
  keyId?: string;
  model: string;
  items: Record<string, bigint>;
  /** Per thousand of every item. */
  rate: string;
  minimum?: string;
  quota?: { kind: Exclude<Unit, "money">; units: bigint };
  cause?: Cause;
};

/** An account with a history: its payments and charges are written into the ledger, at any given time. */
export type Spender = {
  email: string;
  accountId: AccountId;
  createKey(name: string): Promise<string>;
  book(booking: CreditRequest["booking"], at: Date): Promise<void>;
  hold(amount: string, at: Date, options?: Pick<PastWork, "keyId" | "quota" | "cause">): Promise<HoldId>;
  /** Holds and settles; returns the charge's id. */
  charge(work: PastWork): Promise<string>;
};

const holdMs = 60 * 60_000;

export async function createSpender(site: BrowsedSite): Promise<Spender> {
  const email = await site.createPerson();
  const { database, parts } = site.gateway;
  const row = await database.selectFrom("accounts").select("id").where("email", "=", email).executeTakeFirstOrThrow();
  const accountId = row.id as AccountId;

  const hold: Spender["hold"] = async (amount, at, { keyId, quota = null, cause } = {}) => {
    const id = parts.ids.next("hold");
    const request = {
      ...{ kind: "hold" as const, id, accountId, amount: toAmount(amount), quota, budget: null },
      ...(keyId === undefined ? {} : { keyId }),
      cause: cause ?? { kind: "request" as const, id: `req_${id.slice("hold_".length)}` },
      expiresAt: new Date(at.getTime() + holdMs),
    };
    const result = await inTransaction(database, (tx) => applyWithin(tx, request, at));
    invariant(result.kind === "held", `the hold was not opened: ${result.kind}`);
    return id;
  };

  return {
    email,
    accountId,
    hold,
    async createKey(name) {
      return (await createApiKey({ ...parts, randomBytes }, { accountId, name })).apiKey.id;
    },
    async book(booking, at) {
      const then = { ...parts, clock: { ...parts.clock, now: () => at } };
      await bookCredit(then, { accountId, booking, actor: "test", reason: "a test", reference: null });
    },
    async charge({ at, model, items, rate, minimum = "0", ...work }) {
      const holdId = await hold("1", at, work);
      const price = database.selectFrom("prices").select("id").where("model_id", "=", model);
      const bill = {
        priceId: (await price.orderBy("created_at", "desc").executeTakeFirstOrThrow()).id,
        items: Object.entries(items).map(([name, quantity]) => ({ name, quantity, rate: toAmount(rate) })),
        per: 1000n,
        minimum: toAmount(minimum),
        quotaUnits: work.quota?.units ?? 0n,
      };
      const end = { kind: "settle", accountId, holdId, bill, overrun: "take-available", budgetAmount: null } as const;
      const result = await inTransaction(database, (tx) => applyWithin(tx, end, at));
      invariant(result.kind === "settled", `the hold was not settled: ${result.kind}`);
      return `txn_${holdId.slice("hold_".length)}`;
    },
  };
}

export function toAmount(text: string): Nano {
  const amount = parseMoney(text);
  invariant(amount !== null, `${text} is no amount`);
  return amount;
}

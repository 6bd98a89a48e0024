import type { HoldOperation, Operation, Result } from "../../../src/features/ledger/operation.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../../src/lib/ids.ts";
import { nano } from "../../../src/lib/money.ts";
import { createBill } from "./ledger-process.ts";

export type Random = {
  /** A whole number from 0 to less than this. */
  below(end: number): number;
  pick<T>(list: readonly T[]): T | undefined;
};

/** The same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  function below(end: number): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }
  return { below, pick: (list) => list[below(list.length)] };
}

type KnownHold = { id: HoldId; accountId: AccountId; amount: bigint; budgetAmount: bigint | null };
type KnownCharge = { id: TransactionId; accountId: AccountId; paid: bigint };

/** All operations, or only those of a call. */
type Mix = "everything" | "calls";

type LedgerLoad = {
  /** One operation, or two concurrent ones: the same twice, or two endings of one hold. */
  choose(now: Date, mix?: Mix): Operation[];
  /** Records an answer, so that later operations can build on it. */
  learn(operation: Operation, result: Result): void;
  /** An ending for every hold that may still be open. */
  listEndings(): Operation[];
};

const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;
/** Few accounts with little money, so that callers conflict and many are refused. */
const amounts = { hold: 60, topUp: 150, grant: 80, adjust: 30, quota: 10 };
const budgets = [
  { name: "day", period: "day", amount: nano(200n) },
  { name: "total", period: "total", amount: nano(800n) },
] as const;

/** Random operations of a ledger's callers: all kinds, repetitions, reused ids, rivals. */
export function createLedgerLoad(random: Random, accountIds: readonly AccountId[]): LedgerLoad {
  const openHolds = new Map<HoldId, KnownHold>();
  const endedHolds: KnownHold[] = [];
  const charges: KnownCharge[] = [];
  const gifts: { bucketId: BucketId; accountId: AccountId }[] = [];
  const happened = new Map<string, Extract<Operation, { id: string }>>();
  let count = 0;

  const pickAccount = (): AccountId => random.pick(accountIds) ?? "acct_none";
  const upTo = (max: number): bigint => BigInt(random.below(max) + 1);
  const isOneIn = (chances: number): boolean => random.below(chances) === 0;
  const cause = { kind: "operator", id: "load" } as const;

  function nextName(): string {
    count += 1;
    return `n${count}`;
  }

  /** Mostly an open one, and sometimes an ended one. */
  function pickHold(): KnownHold | undefined {
    return isOneIn(10) ? random.pick(endedHolds) : random.pick([...openHolds.values()]);
  }

  function createHold(now: Date): HoldOperation {
    const accountId = pickAccount();
    const name = nextName();
    const budget = random.pick(budgets);
    return {
      kind: "hold",
      id: `hold_${name}`,
      accountId,
      amount: nano(upTo(amounts.hold)),
      quota: isOneIn(4) ? { kind: "text", units: upTo(amounts.quota) } : null,
      budget:
        budget === undefined || isOneIn(3)
          ? null
          : { keyId: `key_${accountId}_${budget.name}`, period: budget.period, amount: budget.amount },
      cause: { kind: "request", id: `req_${name}` },
      expiresAt: new Date(now.getTime() + 10 * minuteMs + random.below(2 * hourMs)),
    };
  }

  function createSettle({ id, accountId, amount, budgetAmount }: KnownHold): Operation {
    // Sometimes the cost exceeds the hold.
    const cost = BigInt(random.below((Number(amount) * 13) / 10 + 1));
    const overrun = isOneIn(4) ? "refuse" : "take-available";
    const limit = budgetAmount === null ? null : nano(budgetAmount);
    return { kind: "settle", holdId: id, accountId, bill: createBill(cost, cost), overrun, budgetAmount: limit };
  }

  function createRelease({ id, accountId }: KnownHold): Operation {
    return { kind: "release", holdId: id, accountId };
  }

  function createExtend({ id, accountId, amount, budgetAmount }: KnownHold): Operation {
    const raised = amount + BigInt(random.below(20));
    const limit = budgetAmount === null ? null : nano(budgetAmount);
    const amounts = { amount: nano(raised), quotaUnits: raised, budgetAmount: limit };
    return { kind: "extend", holdId: id, accountId, ...amounts, expiresAt: null };
  }

  function createCredit(now: Date): Operation {
    const facts = { id: `txn_${nextName()}`, accountId: pickAccount(), cause } as const;
    const end = new Date(now.getTime() + minuteMs + random.below(3 * hourMs));
    const channel = "test";
    switch (random.below(5)) {
      case 0:
        return { kind: "grant", ...facts, unit: "money", amount: upTo(amounts.grant), expiresAt: end, channel };
      case 1:
        return { kind: "grant", ...facts, unit: "text", amount: upTo(amounts.grant), expiresAt: null, channel };
      case 2:
        return { kind: "adjust", ...facts, amount: nano(isOneIn(2) ? upTo(amounts.adjust) : -upTo(amounts.adjust)) };
      default:
        return { kind: "top-up", ...facts, amount: nano(upTo(amounts.topUp)), channel };
    }
  }

  function createRefund(): Operation | undefined {
    const charge = random.pick(charges);
    if (charge === undefined) return undefined;
    const amount = upTo(Number(charge.paid) + 2);
    const facts = { id: `txn_${nextName()}`, accountId: charge.accountId, chargeId: charge.id, cause } as const;
    return { kind: "refund", ...facts, amount };
  }

  function createExpiry(): Operation | undefined {
    const gift = random.pick(gifts);
    const hold = random.pick([...openHolds.values()]);
    if (isOneIn(2)) return gift && { kind: "expire-bucket", ...gift, when: "due", cause };
    return hold && { kind: "expire-hold", accountId: hold.accountId, holdId: hold.id };
  }

  /** An operation that has happened, repeated. The hold's expiry then counts from the repetition. */
  function repeat(now: Date): Extract<Operation, { id: string }> | undefined {
    const operation = random.pick([...happened.values()]);
    if (operation?.kind !== "hold") return operation;
    return { ...operation, expiresAt: new Date(now.getTime() + hourMs) };
  }

  /** An id that already belongs to something else. */
  function reuseId(now: Date): Operation | undefined {
    const operation = repeat(now);
    if (operation === undefined) return undefined;
    const accountId = random.pick(accountIds.filter((id) => id !== operation.accountId));
    if (accountId !== undefined && isOneIn(2)) {
      // A key belongs to one account.
      return operation.kind === "hold" ? { ...operation, accountId, budget: null } : { ...operation, accountId };
    }
    // An amount is money in some operations and units in others.
    return { ...operation, amount: operation.amount * 2n } as Operation;
  }

  function chooseOne(now: Date, mix: Mix): Operation | undefined {
    const chance = random.below(mix === "calls" ? 74 : 100);
    const hold = pickHold();
    if (chance < 34) return createHold(now);
    if (chance < 60) return hold && createSettle(hold);
    if (chance < 66) return hold && createRelease(hold);
    if (chance < 74) return hold && createExtend(hold);
    if (chance < 84) return createCredit(now);
    if (chance < 88) return createRefund();
    if (chance < 92) return createExpiry();
    return chance < 97 ? repeat(now) : reuseId(now);
  }

  return {
    choose(now, mix = "everything") {
      const hold = random.pick([...openHolds.values()]);
      if (hold !== undefined && isOneIn(20)) return [createSettle(hold), createRelease(hold)];
      const operation = chooseOne(now, mix) ?? createHold(now);
      return isOneIn(8) ? [operation, operation] : [operation];
    },
    learn(operation, result) {
      // Whether an answer is the first or a repetition means nothing to a caller who missed the first.
      const isNew = "id" in operation && !happened.has(operation.id) && "isReplay" in result;
      const isKept = result.kind === "booked" || operation.kind === "hold";
      if (isNew && isKept) happened.set(operation.id, operation);
      if (isNew && operation.kind === "grant" && isKept)
        gifts.push({ accountId: operation.accountId, bucketId: `bkt_${operation.id.slice("txn_".length)}` });
      if (isNew && operation.kind === "hold" && result.kind === "held") {
        const { id, accountId, budget } = operation;
        openHolds.set(id, { id, accountId, amount: result.amount, budgetAmount: budget?.amount ?? null });
      }
      if (operation.kind === "settle" && result.kind === "settled" && result.paid > 0n) {
        const id: TransactionId = `txn_${operation.holdId.slice("hold_".length)}`;
        charges.push({ id, accountId: operation.accountId, paid: result.paid });
      }
      const known = "holdId" in operation ? openHolds.get(operation.holdId) : undefined;
      if (known !== undefined && ["settled", "released", "expired", "already-resolved"].includes(result.kind)) {
        openHolds.delete(known.id);
        endedHolds.push(known);
      }
      if (known !== undefined && result.kind === "extended") known.amount = result.amount;
    },
    listEndings: () => [...openHolds.values()].map(createRelease),
  };
}

import type { Hold, KeySpending } from "../../../src/features/ledger/ledger-state.ts";
import type { Operation } from "../../../src/features/ledger/operation.ts";
import type { Bill } from "../../../src/lib/bill.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../../src/lib/ids.ts";
import { type Nano, nano } from "../../../src/lib/money.ts";
import {
  type AmountWish,
  type BillWish,
  type HoldTarget,
  knownAccountIds,
  unknownAccountId,
  type WaitWish,
  type Wish,
} from "../ledger/ledger-arbitraries.ts";
import { type LedgerModel, type LedgerPicture, maxOf, moneyMax, quotaUnitsMax } from "../ledger/ledger-model.ts";

/** Ids whose text order is neither numeric nor their order of creation. */
const suffixes = "m2 m10 m1 b7 z b70 k3.bonus k3 c x9 q d4 w a g5 g m n30 n4 y".split(" ");

type Situation = { model: LedgerModel; now: Date; history: readonly Operation[] };

/** The operation for a wish in the current state. */
export function resolveWish(wish: Wish, { model, now, history }: Situation): Operation {
  const picture = model.picture();
  switch (wish.kind) {
    case "hold":
      return resolveHold(wish, { model, now, picture });
    case "extend": {
      const { hold, ...named } = findTarget(wish.target, picture);
      const budgetAmount = chooseBudget(wish.budgetAmount);
      const edges = hold === undefined ? [] : listEdges(hold, { model, now, budgetAmount });
      return {
        kind: "extend",
        ...named,
        amount: nano(chooseAmount(wish.amount, edges, moneyMax)),
        quotaUnits: hold?.unit === "money" ? 0n : chooseAmount(wish.amount, edges, quotaUnitsMax),
        budgetAmount,
        expiresAt: wish.lifeMs === null ? null : new Date(now.getTime() + wish.lifeMs),
      };
    }
    case "settle": {
      const { hold, ...named } = findTarget(wish.target, picture);
      const budgetAmount = chooseBudget(wish.budgetAmount);
      const edges = hold === undefined ? [] : listEdges(hold, { model, now, budgetAmount });
      return { kind: "settle", ...named, bill: writeBill(wish.bill, edges), overrun: wish.overrun, budgetAmount };
    }
    case "release":
    case "expire-hold": {
      const { accountId, holdId } = findTarget(wish.target, picture);
      return { kind: wish.kind, accountId, holdId };
    }
    case "top-up": {
      const { kind, accountId, channel } = wish;
      const room = moneyMax - findCash(accountId, picture).posted;
      const amount = nano(chooseAmount(wish.amount, [room], moneyMax));
      return { kind, id: nameTransaction(wish.slot), accountId, amount, channel, cause: nameCause(0) };
    }
    case "grant": {
      const { kind, accountId, unit, life, channel } = wish;
      const buckets = picture.buckets.filter((bucket) => bucket.accountId === accountId && bucket.unit === unit);
      const room = maxOf(unit) - buckets.reduce((total, { posted }) => total + posted, 0n);
      const amount = chooseAmount(wish.amount, [room], maxOf(unit));
      const from = life?.from === "midnight" ? new Date(now).setUTCHours(0, 0, 0, 0) : now.getTime();
      const expiresAt = life === null ? null : new Date(from + life.ms);
      return { kind, id: nameTransaction(wish.slot), accountId, unit, amount, expiresAt, channel, cause: nameCause(0) };
    }
    case "adjust": {
      const { kind, accountId, isNegative, reverses } = wish;
      const { posted, held } = findCash(accountId, picture);
      const edges = isNegative ? [posted - held, posted] : [moneyMax - posted, 1n, 2n];
      const amount = chooseAmount(wish.amount, edges, moneyMax);
      const signed = nano(isNegative ? -amount : amount);
      const booking = { kind, id: nameTransaction(wish.slot), accountId, amount: signed, cause: nameCause(0) };
      return reverses === null ? booking : { ...booking, reverses };
    }
    case "refund":
      return resolveRefund(wish, { model, picture });
    case "expire-bucket": {
      const bucket = wish.isKnown ? pickFrom(picture.buckets, wish.pick) : undefined;
      const bucketId: BucketId = bucket?.id ?? "bkt_none";
      const accountId = chooseAsker(wish.asker, bucket?.accountId);
      return { kind: "expire-bucket", accountId, bucketId, when: wish.when, cause: nameCause(0) };
    }
    case "again": {
      const before = history.at(-1 - (wish.back % Math.max(history.length, 1)));
      if (before === undefined) return { kind: "release", accountId: unknownAccountId, holdId: "hold_none" };
      return wish.change === null ? before : changeOneThing(before, wish.change);
    }
  }
}

/** The time that a script waits for: never before now. */
export function resolveWait(wait: WaitWish, now: Date, picture: LedgerPicture): Date {
  const dayMs = 24 * 60 * 60 * 1000;
  switch (wait.for) {
    case "nothing":
      return now;
    case "a while":
      return new Date(now.getTime() + wait.ms);
    case "a new period": {
      const day = new Date(now);
      const isFirst = { day: () => true, week: () => day.getUTCDay() === 1, month: () => day.getUTCDate() === 1 };
      do day.setTime(day.setUTCHours(0, 0, 0, 0) + dayMs);
      while (!isFirst[wait.period]());
      return latest(now, day.getTime() + wait.offsetMs);
    }
    case "an end": {
      const open = wait.of === "bucket" ? picture.buckets : picture.holds.filter(({ state }) => state === "open");
      const ends = open.flatMap(({ expiresAt }) => (expiresAt === null || expiresAt < now ? [] : [expiresAt]));
      const end = pickFrom(ends, wait.pick);
      return end === undefined ? now : latest(now, end.getTime() + wait.offsetMs);
    }
  }
}

function latest(now: Date, milliseconds: number): Date {
  return new Date(Math.max(now.getTime(), milliseconds));
}

type Wished<K extends Wish["kind"]> = Extract<Wish, { kind: K }>;

function resolveHold(
  wish: Wished<"hold">,
  { model, now, picture }: { model: LedgerModel; now: Date; picture: LedgerPicture },
): Operation {
  const { kind, accountId, quota, cause, lifeMs } = wish;
  const budget =
    wish.budget === null
      ? null
      : {
          keyId: nameKey(accountId, wish.budget.key),
          amount: nano(BigInt(wish.budget.amount)),
          period: wish.budget.period,
        };
  const { posted, held } = findCash(accountId, picture);
  const edges = [model.sumAvailable(accountId, "money", now), posted - held];
  if (budget !== null) edges.push(model.sumBudgetLeft(budget, now));
  return {
    kind,
    id: `hold_h${wish.slot}`,
    accountId,
    amount: nano(chooseAmount(wish.amount, edges, moneyMax)),
    quota:
      quota === null
        ? null
        : {
            kind: quota.kind,
            units: chooseAmount(quota.units, [model.sumAvailable(accountId, quota.kind, now)], quotaUnitsMax),
          },
    budget,
    cause: nameCause(cause),
    expiresAt: new Date(now.getTime() + lifeMs),
  };
}

function resolveRefund(
  wish: Wished<"refund">,
  { model, picture }: { model: LedgerModel; picture: LedgerPicture },
): Operation {
  const { kind, of, pick } = wish;
  const choice = {
    charge: () => pickFrom(picture.charges, pick),
    other: () => pickFrom(picture.postings, pick),
    unknown: () => undefined,
  }[of]();
  const chargeId: TransactionId = choice?.id ?? "txn_none";
  // A charge without postings is unknown to the ledger's transactions, and its id would be free. An expiry's id, which
  // ends in a number, is refused before it gets here.
  const isTaken = picture.postings.some(({ id, kind }) => id === chargeId && kind !== "expiry");
  return {
    kind,
    id: wish.hasIdOfCharge && isTaken ? chargeId : nameTransaction(wish.slot),
    accountId: chooseAsker(wish.asker, choice?.accountId),
    chargeId,
    amount: chooseAmount(wish.amount, [model.sumRefundable(chargeId)], moneyMax),
    cause: nameCause(0),
  };
}

function findTarget({ among, pick, asker }: HoldTarget, { holds }: LedgerPicture) {
  const wished = holds.filter(({ state }) => (state === "open") === (among === "open"));
  const hold = among === "unknown" ? undefined : pickFrom(wished.length > 0 ? wished : holds, pick);
  const holdId: HoldId = hold?.id ?? "hold_none";
  return { hold, holdId, accountId: chooseAsker(asker, hold?.accountId) };
}

/** The amounts up to which a hold can be extended, by each limit. */
function listEdges(
  { accountId, unit, amount, budget }: Pick<Hold, "accountId" | "unit" | "amount" | "budget">,
  { model, now, budgetAmount }: { model: LedgerModel; now: Date; budgetAmount: Nano | null },
): bigint[] {
  const edges = [amount, amount + model.sumAvailable(accountId, unit, now), 0n];
  if (budget === null || budgetAmount === null) return edges;
  const isOfPeriod = (one: KeySpending): boolean =>
    one.keyId === budget.keyId && one.startsAt.getTime() === budget.startsAt.getTime();
  const { held, spent } = model.picture().spending.find(isOfPeriod) ?? { held: 0n, spent: 0n };
  const left = budgetAmount - held - spent;
  return [...edges, amount + (left > 0n ? left : 0n)];
}

function writeBill(wish: BillWish, edges: readonly bigint[]): Bill {
  const facts = {
    priceId: "price_1",
    minimum: nano(BigInt(wish.minimum)),
    quotaUnits: chooseAmount(wish.quotaUnits, edges, quotaUnitsMax, 0n),
  };
  if (wish.items !== null) {
    const items = wish.items.map(({ quantity, rate }, index) => ({
      name: `item ${index}`,
      quantity: BigInt(quantity),
      rate: nano(BigInt(rate)),
    }));
    return { ...facts, items, per: BigInt(wish.per) };
  }
  const per = BigInt(wish.per);
  const cost = chooseAmount(wish.cost, edges, moneyMax, 0n);
  const shift = { even: 0n, up: -(per / 2n), down: (per + 1n) / 2n - 1n }[wish.rounding];
  const quantity = cost * per + shift;
  const isFit = quantity >= 0n && quantity <= moneyMax;
  const items = [{ name: "tokens", quantity: isFit ? quantity : cost, rate: nano(1n) }];
  return { ...facts, items, per: isFit ? per : 1n };
}

/** The same operation with one change, which may or may not make it a different one. */
function changeOneThing(operation: Operation, change: number): Operation {
  const variants = listVariants(operation);
  return pickFrom(variants, change) ?? operation;
}

function listVariants(operation: Operation): Operation[] {
  const other = { ...operation, accountId: otherAccount(operation.accountId) };
  switch (operation.kind) {
    case "hold": {
      const { quota, budget, cause, expiresAt } = operation;
      const otherKey = budget === null ? null : { ...budget, keyId: nameKey(otherAccount(operation.accountId), 0) };
      return [
        { ...operation, accountId: otherAccount(operation.accountId), budget: otherKey },
        { ...operation, amount: nano(operation.amount === 1n ? 2n : operation.amount - 1n) },
        { ...operation, quota: quota === null ? { kind: "text", units: 1n } : null },
        ...(quota === null
          ? []
          : [
              { ...operation, quota: { ...quota, units: quota.units === 1n ? 2n : quota.units - 1n } },
              { ...operation, quota: { ...quota, kind: quota.kind === "text" ? "image" : "text" } as const },
            ]),
        {
          ...operation,
          budget: budget === null ? { keyId: nameKey(operation.accountId, 0), amount: nano(9n), period: "day" } : null,
        },
        ...(budget === null
          ? []
          : [
              { ...operation, budget: { ...budget, keyId: `${budget.keyId}x` } },
              { ...operation, budget: { ...budget, amount: nano(budget.amount + 1n) } },
              { ...operation, budget: { ...budget, period: budget.period === "day" ? "week" : "day" } as const },
            ]),
        { ...operation, cause: { ...cause, id: `${cause.id}x` } },
        { ...operation, cause: { ...cause, kind: cause.kind === "task" ? "request" : "task" } },
        { ...operation, expiresAt: new Date(expiresAt.getTime() + 1000) },
      ];
    }
    case "extend":
      return [
        other,
        { ...operation, amount: nano(operation.amount + 1n), quotaUnits: operation.quotaUnits + 1n },
        { ...operation, budgetAmount: operation.budgetAmount === null ? nano(0n) : null },
        { ...operation, expiresAt: operation.expiresAt && new Date(operation.expiresAt.getTime() + 1000) },
        { ...operation, expiresAt: operation.expiresAt && new Date(operation.expiresAt.getTime() - 1000) },
      ];
    case "settle": {
      const { bill, overrun, budgetAmount } = operation;
      const [item = { name: "more", quantity: 1n, rate: nano(1n) }, ...items] = bill.items;
      return [
        other,
        { ...operation, overrun: overrun === "refuse" ? "take-available" : "refuse" },
        { ...operation, budgetAmount: budgetAmount === null ? nano(0n) : null },
        ...[
          { priceId: `${bill.priceId}x` },
          { per: bill.per + 1n },
          { minimum: nano(bill.minimum + 1n) },
          { quotaUnits: bill.quotaUnits + 1n },
          { items: [{ ...item, name: `${item.name}x` }, ...items] },
          { items: [{ ...item, quantity: item.quantity === 0n ? 1n : item.quantity - 1n }, ...items] },
          { items: [{ ...item, rate: nano(item.rate === 0n ? 1n : 0n) }, ...items] },
          { items: [...bill.items, { name: "nothing", quantity: 0n, rate: nano(0n) }] },
        ].map((part) => ({ ...operation, bill: { ...bill, ...part } })),
      ];
    }
    case "release":
      return [other, { ...operation, kind: "expire-hold" }];
    case "expire-hold":
      return [other, { ...operation, kind: "release" }];
    case "top-up": {
      const { kind, channel, ...rest } = operation;
      return [
        other,
        { ...operation, amount: nano(operation.amount === 1n ? 2n : 1n) },
        { ...operation, channel: `${channel}x` },
        { ...operation, cause: nameCause(1) },
        { ...operation, kind: "grant", unit: "money", expiresAt: null },
        { ...rest, kind: "adjust" },
      ];
    }
    case "grant": {
      const { kind, unit, expiresAt, ...rest } = operation;
      return [
        other,
        { ...operation, amount: operation.amount === 1n ? 2n : 1n },
        { ...operation, channel: `${operation.channel}x` },
        { ...operation, cause: nameCause(1) },
        { ...operation, unit: unit === "text" ? "video" : "text" },
        { ...operation, expiresAt: expiresAt === null ? new Date("2040-01-01T00:00:00Z") : null },
        { ...rest, amount: nano(operation.amount), kind: "top-up" },
      ];
    }
    case "adjust":
      return [
        other,
        { ...operation, amount: nano(operation.amount === 1n ? 2n : 1n) },
        { ...operation, amount: nano(-operation.amount) },
        { ...operation, reverses: `${operation.reverses ?? ""}x` },
        { ...operation, cause: nameCause(1) },
        { ...operation, kind: "top-up", amount: nano(operation.amount < 0n ? 1n : operation.amount), channel: "card" },
      ];
    case "refund":
      return [
        other,
        { ...operation, amount: operation.amount === 1n ? 2n : 1n },
        { ...operation, chargeId: "txn_none" },
        { ...operation, cause: nameCause(1) },
      ];
    case "expire-bucket":
      return [other, { ...operation, when: operation.when === "due" ? "now" : "due" }];
  }
}

function chooseAmount(wish: AmountWish, edges: readonly bigint[], max: bigint, min = 1n): bigint {
  const edge = wish.edge === null ? undefined : pickFrom([...edges, max], wish.edge);
  const amount = edge === undefined ? BigInt(wish.few) : edge + BigInt(wish.offset);
  return amount < min ? min : amount > max ? max : amount;
}

function chooseBudget(amount: number | null): Nano | null {
  return amount === null ? null : nano(BigInt(amount));
}

function chooseAsker(asker: HoldTarget["asker"], owner: AccountId | undefined): AccountId {
  const [first = unknownAccountId] = knownAccountIds;
  if (asker === "unknown") return unknownAccountId;
  return asker === "owner" ? (owner ?? first) : otherAccount(owner ?? first);
}

function otherAccount(accountId: AccountId): AccountId {
  return knownAccountIds.find((id) => id !== accountId) ?? unknownAccountId;
}

function findCash(accountId: AccountId, { buckets }: LedgerPicture): { posted: bigint; held: bigint } {
  const isCash = (bucket: LedgerPicture["buckets"][number]): boolean =>
    bucket.accountId === accountId && bucket.kind === "cash";
  return buckets.find(isCash) ?? { posted: 0n, held: 0n };
}

function nameTransaction(slot: number): TransactionId {
  return `txn_${suffixes[slot] ?? `r${slot}`}`;
}

/** A key always belongs to one account. */
function nameKey(accountId: AccountId, key: number): string {
  return `key_${accountId.slice("acct_".length)}${key}`;
}

function nameCause(cause: number): { kind: "request"; id: string } {
  return { kind: "request", id: `req_${cause}` };
}

function pickFrom<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(list.length, 1)];
}

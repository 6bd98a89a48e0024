import fc from "fast-check";
import type { Unit } from "../../../src/features/ledger/ledger-state.ts";
import type { SettleOperation } from "../../../src/features/ledger/operation.ts";
import { type BudgetPeriod, budgetPeriods } from "../../../src/lib/budget.ts";
import type { AccountId } from "../../../src/lib/ids.ts";

// The arbitraries draw wishes, such as "one more than the balance", because the interesting amount is only known at its
// turn. `resolve-wish.ts` turns them into operations. All sets are small, so that the same ids and amounts collide
// often.

/** An absolute amount, or an offset from one of the amounts at which an answer changes. */
export type AmountWish = { few: number; edge: number | null; offset: number };

/** One of the existing holds, and the account that asks about it. */
export type HoldTarget = { among: "open" | "ended" | "unknown"; pick: number; asker: Asker };
type Asker = "owner" | "other" | "unknown";

export type BillWish = {
  cost: AmountWish;
  /** Whether the price is even, rounded up or rounded down. */
  rounding: "even" | "up" | "down";
  /** Replaces all of the above by a realistic bill. */
  items: { quantity: number; rate: number }[] | null;
  per: number;
  minimum: number;
  quotaUnits: AmountWish;
};

export type Wish =
  | {
      kind: "hold";
      accountId: AccountId;
      slot: number;
      amount: AmountWish;
      quota: { kind: QuotaKind; units: AmountWish } | null;
      budget: { key: number; amount: number; period: BudgetPeriod } | null;
      cause: number;
      lifeMs: number;
    }
  | {
      kind: "extend";
      target: HoldTarget;
      amount: AmountWish;
      budgetAmount: number | null;
      lifeMs: number | null;
    }
  | {
      kind: "settle";
      target: HoldTarget;
      bill: BillWish;
      overrun: SettleOperation["overrun"];
      budgetAmount: number | null;
    }
  | { kind: "release" | "expire-hold"; target: HoldTarget }
  | { kind: "top-up"; accountId: AccountId; slot: number; amount: AmountWish; channel: string }
  | {
      kind: "grant";
      accountId: AccountId;
      slot: number;
      unit: Unit;
      amount: AmountWish;
      /** From now, or from the last midnight, so that several end together. */
      life: { from: "now" | "midnight"; ms: number } | null;
      channel: string;
    }
  | {
      kind: "adjust";
      accountId: AccountId;
      slot: number;
      amount: AmountWish;
      isNegative: boolean;
      reverses: string | null;
    }
  | {
      kind: "refund";
      slot: number;
      amount: AmountWish;
      of: "charge" | "other" | "unknown";
      pick: number;
      asker: Asker;
      hasIdOfCharge: boolean;
    }
  | { kind: "expire-bucket"; pick: number; isKnown: boolean; asker: Asker; when: "due" | "now" }
  /** An earlier operation, either exactly or with one thing changed. */
  | { kind: "again"; back: number; change: number | null };

export type WaitWish =
  | { for: "nothing" }
  | { for: "a while"; ms: number }
  | { for: "a new period"; period: "day" | "week" | "month"; offsetMs: number }
  | { for: "an end"; of: "bucket" | "hold"; pick: number; offsetMs: number };

type Step = {
  wait: WaitWish;
  /** The account that is frozen while the batch is decided. */
  frozenId: AccountId | null;
  /** One batch. */
  wishes: Wish[];
};

export type Script = { startsAt: Date; steps: Step[] };

/** The existing accounts. The third one in scripts does not exist. */
export const knownAccountIds = ["acct_anna", "acct_bert"] as const satisfies readonly AccountId[];
export const unknownAccountId: AccountId = "acct_nobody";

type QuotaKind = Exclude<Unit, "money">;
const quotaKinds: readonly QuotaKind[] = ["text", "image", "video"];

const secondMs = 1000;
const hourMs = 60 * 60 * secondMs;
const dayMs = 24 * hourMs;

const accountId = fc.constantFrom<AccountId>(
  ...Array<AccountId>(14).fill("acct_anna"),
  ...Array<AccountId>(9).fill("acct_bert"),
  unknownAccountId,
);
const asker = fc.constantFrom<Asker>(...Array<Asker>(18).fill("owner"), "other", "unknown");
const slot = fc.nat(19);
const pick = fc.nat(11);
const cause = fc.nat(1);
const channel = fc.constantFrom("card", "code");
const offset = fc.constantFrom(-1, 0, 1);
const offsetMs = fc.constantFrom(-1, 0, 1);

/** The value in this many cases out of ten, otherwise `null`. */
function inTen<T>(cases: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 10 - cases, arbitrary: fc.constant(null) }, { weight: cases, arbitrary });
}

function amountUpTo(few: number, edgeShare: number): fc.Arbitrary<AmountWish> {
  return fc.record({
    few: fc.integer({ min: 1, max: few }),
    edge: inTen(edgeShare, fc.nat(5)),
    offset,
  });
}

const target = fc.record({
  among: fc.constantFrom<HoldTarget["among"]>(
    "open",
    "open",
    "open",
    "open",
    "open",
    "open",
    "ended",
    "ended",
    "unknown",
  ),
  pick,
  asker,
});

const hold = fc.record({
  kind: fc.constant("hold" as const),
  accountId,
  slot,
  amount: amountUpTo(12, 3),
  quota: inTen(3, fc.record({ kind: fc.constantFrom("text" as const, ...quotaKinds), units: amountUpTo(8, 3) })),
  budget: inTen(
    5,
    fc.record({ key: fc.nat(1), amount: fc.integer({ min: 0, max: 40 }), period: fc.constantFrom(...budgetPeriods) }),
  ),
  cause,
  lifeMs: fc.constantFrom(secondMs, secondMs, hourMs, 2 * dayMs, 20 * dayMs),
});

const budgetAmount = inTen(6, fc.integer({ min: 0, max: 40 }));

const extend = fc.record({
  kind: fc.constant("extend" as const),
  target,
  amount: amountUpTo(20, 6),
  budgetAmount,
  lifeMs: inTen(5, fc.constantFrom(1, hourMs, 3 * dayMs)),
});

const bill = fc.record({
  cost: amountUpTo(12, 6),
  rounding: fc.constantFrom<BillWish["rounding"]>("even", "up", "down"),
  items: inTen(4, fc.array(fc.record({ quantity: fc.nat(20), rate: fc.nat(3) }), { maxLength: 3 })),
  per: fc.constantFrom(1, 2, 3, 7, 1000),
  minimum: fc.constantFrom(0, 0, 0, 1, 9),
  quotaUnits: amountUpTo(9, 6),
});

const settle = fc.record({
  kind: fc.constant("settle" as const),
  target,
  bill,
  overrun: fc.constantFrom<SettleOperation["overrun"]>("refuse", "take-available", "charge-hold"),
  budgetAmount,
});

const release = fc.record({ kind: fc.constantFrom("release" as const, "expire-hold" as const), target });

const topUp = fc.record({
  kind: fc.constant("top-up" as const),
  accountId,
  slot,
  amount: amountUpTo(60, 2),
  channel,
});

const grant = fc.record({
  kind: fc.constant("grant" as const),
  accountId,
  slot,
  unit: fc.constantFrom<Unit>("money", "money", "money", "money", "text", "text", ...quotaKinds),
  amount: amountUpTo(15, 1),
  life: inTen(
    8,
    fc.oneof(
      fc.record({ from: fc.constant("now" as const), ms: fc.constantFrom(secondMs, hourMs, dayMs, 0, -1) }),
      fc.record({
        from: fc.constant("midnight" as const),
        ms: fc.constantFrom(dayMs, 2 * dayMs, 2 * dayMs, 9 * dayMs),
      }),
    ),
  ),
  channel,
});

const adjust = fc.record({
  kind: fc.constant("adjust" as const),
  accountId,
  slot,
  amount: amountUpTo(9, 4),
  isNegative: fc.boolean(),
  reverses: fc.option(channel, { freq: 2 }),
});

const refund = fc.record({
  kind: fc.constant("refund" as const),
  // Mostly unique ids: few scripts have a charge, and those should not hit a taken id.
  slot: fc.nat(59),
  amount: amountUpTo(5, 5),
  of: fc.constantFrom<Extract<Wish, { kind: "refund" }>["of"]>(
    ...Array<"charge">(8).fill("charge"),
    "other",
    "unknown",
  ),
  pick,
  asker,
  hasIdOfCharge: fc.constantFrom(true, ...Array<boolean>(19).fill(false)),
});

const expireBucket = fc.record({
  kind: fc.constant("expire-bucket" as const),
  pick,
  isKnown: fc.constantFrom(false, ...Array<boolean>(9).fill(true)),
  asker,
  when: fc.constantFrom("due" as const, "due" as const, "now" as const),
});

const again = fc.record({
  kind: fc.constant("again" as const),
  back: fc.oneof(fc.nat(2), fc.nat(15)),
  change: inTen(6, fc.nat(23)),
});

const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 24, arbitrary: hold },
  { weight: 9, arbitrary: extend },
  { weight: 16, arbitrary: settle },
  { weight: 8, arbitrary: release },
  { weight: 8, arbitrary: topUp },
  { weight: 9, arbitrary: grant },
  { weight: 4, arbitrary: adjust },
  { weight: 9, arbitrary: refund },
  { weight: 5, arbitrary: expireBucket },
  { weight: 14, arbitrary: again },
);

const wait: fc.Arbitrary<WaitWish> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ for: "nothing" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ for: fc.constant("a while" as const), ms: fc.constantFrom(1, secondMs, hourMs, dayMs) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      for: fc.constant("a new period" as const),
      period: fc.constantFrom("day" as const, "week" as const, "month" as const),
      offsetMs,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      for: fc.constant("an end" as const),
      of: fc.constantFrom("bucket" as const, "hold" as const),
      pick,
      offsetMs,
    }),
  },
);

const frozenId = inTen(1, fc.constantFrom(...knownAccountIds));

const step: fc.Arbitrary<Step> = fc.record({
  wait,
  frozenId,
  wishes: fc.oneof(fc.array(wish, { maxLength: 2, size: "max" }), fc.array(wish, { maxLength: 9, size: "max" })),
});

/** Without money and holds nearly everything is refused, so a script begins with some. */
const opening: fc.Arbitrary<Step> = fc.record({
  wait: fc.constant({ for: "nothing" as const }),
  frozenId: fc.constant(null),
  wishes: fc
    .tuple(
      fc.array(fc.oneof(topUp, grant, grant), { maxLength: 9, size: "max" }),
      fc.array(hold, { maxLength: 4, size: "max" }),
    )
    .map((parts) => parts.flat()),
});

/** The second of these ends a day, a week, a month and a year at once. */
const startsAt = fc.constantFrom(
  ...[
    "2026-06-17T11:30:00.000Z",
    "2028-12-31T23:59:59.000Z",
    "2027-02-28T22:00:00.000Z",
    "2026-08-03T00:00:00.000Z",
  ].map((moment) => new Date(moment)),
);

/**
 * A script of some batches on two accounts, for `playScript`. Without bias: otherwise the library prefers the first and
 * the smallest values, and nearly all scripts use the same id.
 */
export const script: fc.Arbitrary<Script> = fc.noBias(
  fc
    .record({ startsAt, opening, steps: fc.array(step, { maxLength: 16, size: "max" }) })
    .map(({ steps, ...rest }) => ({ startsAt: rest.startsAt, steps: [rest.opening, ...steps] })),
);

/** Scripts that are rarely drawn, each of which once found a bug. They run before all others. */
export const rareScripts: readonly Script[] = [tellOfReopenedGift()];

/** A gift is used up; later, in one batch, its charge is refunded and spent again. */
function tellOfReopenedGift(): Script {
  const [owner] = knownAccountIds;
  const amount = { few: 4, edge: null, offset: 0 };
  const wait = { for: "nothing" } as const;
  const holdAgain = (slot: number) =>
    ({ kind: "hold", accountId: owner, slot, amount, quota: null, budget: null, cause: 0, lifeMs: hourMs }) as const;
  const target = { among: "open", pick: 0, asker: "owner" } as const;
  const price = { rounding: "even", items: null, per: 1, minimum: 0, quotaUnits: amount } as const;
  const giveBack = {
    kind: "refund",
    slot: 30,
    amount,
    of: "charge",
    pick: 0,
    asker: "owner",
    hasIdOfCharge: false,
  } as const;
  const wishes: Wish[][] = [
    [{ kind: "grant", accountId: owner, slot: 0, unit: "money", amount, life: null, channel: "card" }, holdAgain(1)],
    [{ kind: "settle", target, bill: { ...price, cost: amount }, overrun: "refuse", budgetAmount: null }],
    [holdAgain(2), giveBack, holdAgain(3)],
  ];
  const steps = wishes.map((batch) => ({ wait, frozenId: null, wishes: batch }));
  return { startsAt: new Date("2026-06-17T11:30:00.000Z"), steps };
}

// @module-tag slow
import { describe, expect, test } from "vitest";
import { countRuns } from "../../../test/harness/count-runs.ts";
import {
  checkScripts,
  compareBatchesWithSingles,
  compareEarlyWithLate,
  compareWithModel,
  reportScripts,
} from "../../../test/harness/ledger/compare-with-model.ts";
import { assertSame } from "../../../test/harness/ledger/disagreement.ts";
import { createReducerWorld, type ReducerWorld } from "../../../test/harness/ledger/reducer-world.ts";
import type { Bill } from "../../lib/bill.ts";
import type { AccountId, BucketId, HoldId, TransactionId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { applyBatch } from "./apply-batch.ts";
import type { Cause, Unit } from "./ledger-state.ts";
import type {
  GrantOperation,
  HoldOperation,
  Operation,
  RefundOperation,
  Result,
  SettleOperation,
  TopUpOperation,
} from "./operation.ts";

describe("for any sequence of operations", () => {
  test("the reducer agrees with an independent model, on every kind of result", () => {
    const counts = new Map(everyAnswer.map((name) => [name, 0]));
    const onAnswer = (operation: Operation, answer: Result): void => {
      const name = nameAnswer(operation, answer);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    };
    // Fewer would miss a rare answer now and then.
    const runs = 2000;
    const tried = checkScripts((script) => compareWithModel(script, { applyBatch, onAnswer }), { runs });
    reportScripts("ledger model", { runs, ...tried });
    expect([...counts.keys()].toSorted()).toEqual(everyAnswer.toSorted());
    expect([...counts].filter(([, count]) => count === 0)).toEqual([]);
  });

  test("one batch of n equals n batches of one", () => {
    const runs = countRuns(400);
    const tried = checkScripts((script) => compareBatchesWithSingles(script, applyBatch), { runs });
    reportScripts("ledger batches", { runs, ...tried });
  });

  test("changes added to another process's writes equal a decision made after them", () => {
    let count = 0;
    const runs = countRuns(600);
    const check = (script: Parameters<typeof compareEarlyWithLate>[0]): void => {
      count += compareEarlyWithLate(script, applyBatch);
    };
    const tried = checkScripts(check, { runs });
    reportScripts("ledger additions", { runs, ...tried });
    expect(count).toBeGreaterThan(runs / 3);
  });

  test("the given state is not changed", () => {
    const applyWatched: typeof applyBatch = (state, operations, now) => {
      const before = structuredClone(state);
      const decided = applyBatch(state, operations, now);
      assertSame("the given state", state, before);
      return decided;
    };
    checkScripts((script) => compareBatchesWithSingles(script, applyWatched), { runs: countRuns(100) });
  });
});

const refusals = ["insufficient-balance", "key-budget-exceeded", "account-frozen"];
const ended = ["already settled", "already released", "already expired", "already refused"];
const answersByKind: Record<Operation["kind"], string[]> = {
  hold: ["held", "held again", ...refusals, ...refusals.map((reason) => `${reason} again`), "id-reused"],
  extend: ["extended", ...refusals, "no-such-hold", ...ended],
  settle: [
    ...["settled", "settled again", "settled with a loss", "settled with a loss again"],
    ...["over-hold", "no-such-hold", ...ended],
  ],
  release: ["released", "released again", "no-such-hold", ...ended.filter((name) => name !== "already released")],
  "expire-hold": [
    ...["expired", "expired again", "not-due", "no-such-hold"],
    ...ended.filter((name) => name !== "already expired"),
  ],
  "top-up": ["booked", "booked again", "too-large", "id-reused"],
  grant: ["booked", "booked again", "too-large", "already-expired", "id-reused"],
  adjust: ["booked", "booked again", "too-large", "insufficient-balance", "id-reused"],
  refund: ["booked", "booked again", "too-large", "no-such-charge", "over-charge", "id-reused"],
  "expire-bucket": ["expired", "expired with nothing", "not-due", "no-such-bucket"],
};
const everyAnswer = Object.entries(answersByKind).flatMap(([kind, answers]) =>
  [...answers, "no-such-account"].map((answer) => `${kind}: ${answer}`),
);

function nameAnswer({ kind }: Operation, answer: Result): string {
  const again = "isReplay" in answer && answer.isReplay ? " again" : "";
  switch (answer.kind) {
    case "refused":
      return `${kind}: ${answer.reason}${again}`;
    case "already-resolved":
      return `${kind}: already ${answer.state}`;
    case "settled":
      return `${kind}: settled${answer.lost > 0n ? " with a loss" : ""}${again}`;
    case "expired":
      return `${kind}: expired${"amount" in answer && answer.amount === 0n ? " with nothing" : again}`;
    default:
      return `${kind}: ${answer.kind}${again}`;
  }
}

// Examples of what the model proves, one rule at a time.

const accountId: AccountId = "acct_anna";
const cashId: BucketId = "bkt_anna";
const noon = new Date("2026-06-17T12:00:00Z");
const hourMs = 60 * 60 * 1000;
const cause: Cause = { kind: "request", id: "req_1" };

describe("the spend order", () => {
  test("gifts pay before cash, those that expire first before the others", () => {
    const world = openWorld([
      topUp({ amount: 10n }),
      grant("txn_late", { amount: 3n, expiresAt: hoursAfterNoon(9) }),
      grant("txn_never", { amount: 3n, expiresAt: null }),
      grant("txn_soon", { amount: 3n, expiresAt: hoursAfterNoon(1) }),
    ]);
    world.apply([hold("hold_1", { amount: 11n })], noon);
    expect(findHold(world, "hold_1")?.lines).toEqual([
      { bucketId: "bkt_soon", amount: 3n },
      { bucketId: "bkt_late", amount: 3n },
      { bucketId: "bkt_never", amount: 3n },
      { bucketId: cashId, amount: 2n },
    ]);
  });

  test("quotas do not change the order of gifts", () => {
    const world = openWorld([
      grant("txn_soon", { amount: 3n, expiresAt: hoursAfterNoon(1) }),
      grant("txn_text", { amount: 3n, unit: "text" }),
      grant("txn_never", { amount: 3n, expiresAt: null }),
    ]);
    world.apply([hold("hold_1", { amount: 1n })], noon);
    expect(findHold(world, "hold_1")?.lines).toEqual([{ bucketId: "bkt_soon", amount: 1n }]);
  });

  test("an expired gift pays for nothing new", () => {
    const world = openWorld([grant("txn_gift", { amount: 5n, expiresAt: hoursAfterNoon(1) }), topUp({ amount: 2n })]);
    expect(world.apply([hold("hold_1", { amount: 3n })], hoursAfterNoon(1))).toEqual([
      { kind: "refused", reason: "insufficient-balance", missing: 1n, isReplay: false },
    ]);
  });

  test("a gift that expires during the work still pays for it, and only its rest expires", () => {
    const world = openWorld([grant("txn_gift", { amount: 5n, expiresAt: hoursAfterNoon(1) }), topUp({ amount: 2n })]);
    world.apply([hold("hold_1", { amount: 3n })], noon);
    expect(world.apply([expireBucket("bkt_gift")], hoursAfterNoon(1))).toEqual([{ kind: "expired", amount: 2n }]);
    expect(world.apply([settle("hold_1", { cost: 2n })], hoursAfterNoon(2))).toEqual([
      { kind: "settled", unit: "money", paid: 2n, lost: 0n, isReplay: false },
    ]);
    expect(world.apply([expireBucket("bkt_gift")], hoursAfterNoon(3))).toEqual([{ kind: "expired", amount: 1n }]);
    expect(readBalances(world)).toEqual({ [cashId]: 2n, bkt_gift: 0n });
  });

  test("a quota pays for all of the work or nothing", () => {
    const world = openWorld([topUp({ amount: 100n }), grant("txn_plan", { amount: 5n, unit: "image" })]);
    const quota = (units: bigint) => ({ kind: "image" as const, units });
    expect(
      world.apply(
        [
          hold("hold_1", { amount: 40n, quota: quota(3n) }),
          hold("hold_2", { amount: 40n, quota: quota(3n) }),
          hold("hold_3", { amount: 40n, quota: quota(2n) }),
        ],
        noon,
      ),
    ).toEqual([
      { kind: "held", unit: "image", amount: 3n, isReplay: false },
      { kind: "held", unit: "money", amount: 40n, isReplay: false },
      { kind: "held", unit: "image", amount: 2n, isReplay: false },
    ]);
  });
});

describe("a decision stays valid after other processes' writes", () => {
  const quota = { kind: "image", units: 3n } as const;

  test.each([
    ["a hold of cash", [topUp({ amount: 10n })], hold("hold_1", { amount: 6n }), true],
    ["a hold of the first gift", [topUp({ amount: 10n }), gift(6n)], hold("hold_1", { amount: 6n }), true],
    ["a hold of more than the first gift", [topUp({ amount: 10n }), gift(5n)], hold("hold_1", { amount: 6n }), false],
    ["a refused hold", [topUp({ amount: 5n })], hold("hold_1", { amount: 6n }), false],
    ["a quota", [topUp({ amount: 10n }), images(3n)], hold("hold_1", { amount: 6n, quota }), true],
    ["cash instead of a quota", [topUp({ amount: 10n }), images(2n)], hold("hold_1", { amount: 6n, quota }), false],
    ["cash without a quota", [topUp({ amount: 10n })], hold("hold_1", { amount: 6n, quota }), true],
    ["a top-up", [topUp({ amount: 10n })], gift(1n), false],
  ] as const)("if it may: %s", (_name, before, operation, isGood) => {
    const world = openWorld(before);
    const { changes } = world.decideOn(world.tables, [operation], noon);
    expect(changes.exactAccountIds.has(operation.accountId)).toBe(!isGood);
  });

  function gift(amount: bigint): Operation {
    return grant("txn_gift", { amount, expiresAt: hoursAfterNoon(1) });
  }

  function images(amount: bigint): Operation {
    return grant("txn_plan", { amount, unit: "image" });
  }
});

describe("a hold", () => {
  test("is idempotent, also after its end", () => {
    const world = openWorld([topUp({ amount: 10n })]);
    const operation = hold("hold_1", { amount: 6n });
    const held = { kind: "held", unit: "money", amount: 6n };
    expect(world.apply([operation, operation], noon)).toEqual([
      { ...held, isReplay: false },
      { ...held, isReplay: true },
    ]);
    world.apply([settle("hold_1", { cost: 1n })], noon);
    expect(world.apply([{ ...operation, expiresAt: hoursAfterNoon(9) }], noon)).toEqual([{ ...held, isReplay: true }]);
    expect(world.apply([{ ...operation, amount: nano(5n) }], noon)).toEqual([{ kind: "id-reused" }]);
  });

  test("stays refused, even after a top-up", () => {
    const refused = { kind: "refused", reason: "insufficient-balance", missing: 6n };
    const world = openWorld([]);
    expect(world.apply([hold("hold_1", { amount: 6n })], noon)).toEqual([{ ...refused, isReplay: false }]);
    world.apply([topUp({ amount: 10n })], noon);
    expect(world.apply([hold("hold_1", { amount: 6n }), settle("hold_1", { cost: 1n })], noon)).toEqual([
      { ...refused, isReplay: true },
      { kind: "already-resolved", state: "refused" },
    ]);
  });

  test("does not exist for other accounts", () => {
    const world = openWorld([topUp({ amount: 10n }), hold("hold_1", { amount: 6n })]);
    const asked = { accountId: "acct_bert", holdId: "hold_1" } as const;
    const nothing = { kind: "no-such-hold" };
    expect(
      world.apply(
        [
          { kind: "release", ...asked },
          { kind: "expire-hold", ...asked },
          { ...settle("hold_1", { cost: 1n }), ...asked },
          { ...extend("hold_1", 7n), ...asked },
        ],
        hoursAfterNoon(9),
      ),
    ).toEqual([nothing, nothing, nothing, nothing]);
  });

  test("is raised to a total, so a repeated extension changes nothing", () => {
    const world = openWorld([topUp({ amount: 10n }), hold("hold_1", { amount: 6n })]);
    const extended = { kind: "extended", amount: 9n };
    expect(world.apply([extend("hold_1", 9n), extend("hold_1", 9n), extend("hold_1", 4n)], noon)).toEqual([
      extended,
      extended,
      extended,
    ]);
    expect(world.apply([extend("hold_1", 11n)], noon)).toEqual([
      { kind: "refused", reason: "insufficient-balance", missing: 1n, isReplay: false },
    ]);
  });

  test("can be expired after its expiry, not before", () => {
    const world = openWorld([topUp({ amount: 10n }), hold("hold_1", { amount: 6n })]);
    const operation = { kind: "expire-hold", accountId, holdId: "hold_1" } as const;
    expect(world.apply([operation], new Date(hoursAfterNoon(1).getTime() - 1))).toEqual([{ kind: "not-due" }]);
    expect(world.apply([operation, operation], hoursAfterNoon(1))).toEqual([
      { kind: "expired", isReplay: false },
      { kind: "expired", isReplay: true },
    ]);
  });
});

describe("the budget of a key", () => {
  test("is never exceeded by two holds of which only one fits", () => {
    const world = openWorld([topUp({ amount: 100n })]);
    const budget = { keyId: "key_1", amount: nano(10n), period: "day" as const };
    const [first, second] = [hold("hold_1", { amount: 6n, budget }), hold("hold_2", { amount: 6n, budget })];
    expect(world.apply([first, second], noon)).toEqual([
      { kind: "held", unit: "money", amount: 6n, isReplay: false },
      { kind: "refused", reason: "key-budget-exceeded", missing: 2n, isReplay: false },
    ]);
    // The unused part of a hold returns to the budget.
    expect(world.apply([settle("hold_1", { cost: 4n }), hold("hold_3", { amount: 7n, budget })], noon)).toEqual([
      { kind: "settled", unit: "money", paid: 4n, lost: 0n, isReplay: false },
      { kind: "refused", reason: "key-budget-exceeded", missing: 1n, isReplay: false },
    ]);
    expect(world.apply([hold("hold_4", { amount: 10n, budget })], hoursAfterNoon(12))).toEqual([
      { kind: "held", unit: "money", amount: 10n, isReplay: false },
    ]);
  });
});

describe("work that costs more than its hold", () => {
  test("takes the rest of the balance, and books what is missing as a loss", () => {
    const world = openWorld([topUp({ amount: 10n }), hold("hold_1", { amount: 6n })]);
    expect(world.apply([settle("hold_1", { cost: 12n, overrun: "refuse" })], noon)).toEqual([
      { kind: "over-hold", missing: 6n },
    ]);
    const settled = { kind: "settled", unit: "money", paid: 10n, lost: 2n };
    expect(world.apply([settle("hold_1", { cost: 12n }), settle("hold_1", { cost: 12n })], noon)).toEqual([
      { ...settled, isReplay: false },
      { ...settled, isReplay: true },
    ]);
    expect(listMovements(world, "txn_1")).toEqual([`10 from ${cashId} to revenue`, "2 from loss to revenue"]);
  });

  test("takes nothing more from a frozen account, and at most the key's budget", () => {
    const budget = { keyId: "key_1", amount: nano(8n), period: "total" as const };
    const world = openWorld([
      topUp({ amount: 100n }),
      hold("hold_1", { amount: 3n, budget }),
      hold("hold_2", { amount: 3n, budget }),
    ]);
    expect(world.apply([settle("hold_1", { cost: 9n, budgetAmount: 8n })], noon)).toEqual([
      { kind: "settled", unit: "money", paid: 5n, lost: 4n, isReplay: false },
    ]);
    world.setFrozen(accountId, true);
    expect(world.apply([settle("hold_2", { cost: 9n, budgetAmount: 20n })], noon)).toEqual([
      { kind: "settled", unit: "money", paid: 3n, lost: 6n, isReplay: false },
    ]);
  });
});

describe("a refund", () => {
  test("reverses the spend order, and continues where the last refund stopped", () => {
    const world = openWorld([
      grant("txn_gift", { amount: 4n }),
      topUp({ amount: 3n }),
      hold("hold_1", { amount: 7n }),
      settle("hold_1", { cost: 7n }),
    ]);
    world.apply([refund("txn_back1", { amount: 2n })], noon);
    expect(readBalances(world)).toEqual({ [cashId]: 2n, bkt_gift: 0n });
    world.apply([refund("txn_back2", { amount: 3n }), refund("txn_back2", { amount: 3n })], noon);
    expect(readBalances(world)).toEqual({ [cashId]: 3n, bkt_gift: 2n });
    expect(world.apply([refund("txn_back3", { amount: 3n })], noon)).toEqual([{ kind: "over-charge", refundable: 2n }]);
  });

  test("to a used-up gift can be spent in the same batch", () => {
    const world = openWorld([
      grant("txn_gift", { amount: 4n }),
      hold("hold_1", { amount: 4n }),
      settle("hold_1", { cost: 4n }),
    ]);
    expect(world.apply([refund("txn_back", { amount: 4n }), hold("hold_2", { amount: 4n })], noon)).toEqual([
      { kind: "booked", isReplay: false },
      { kind: "held", unit: "money", amount: 4n, isReplay: false },
    ]);
  });

  test("to an expired gift cannot be spent", () => {
    const world = openWorld([
      grant("txn_gift", { amount: 4n, expiresAt: hoursAfterNoon(1) }),
      hold("hold_1", { amount: 4n }),
      settle("hold_1", { cost: 4n }),
    ]);
    expect(
      world.apply(
        [refund("txn_back", { amount: 4n }), hold("hold_2", { amount: 1n }), expireBucket("bkt_gift")],
        hoursAfterNoon(1),
      ),
    ).toEqual([
      { kind: "booked", isReplay: false },
      { kind: "refused", reason: "insufficient-balance", missing: 1n, isReplay: false },
      { kind: "expired", amount: 4n },
    ]);
  });
});

test("a repeated top-up is booked once, and another amount under its id is rejected", () => {
  const world = openWorld([]);
  expect(world.apply([topUp({ amount: 5n }), topUp({ amount: 5n }), topUp({ amount: 6n })], noon)).toEqual([
    { kind: "booked", isReplay: false },
    { kind: "booked", isReplay: true },
    { kind: "id-reused" },
  ]);
  expect(readBalances(world)).toEqual({ [cashId]: 5n });
});

test("an adjustment cannot take money on hold", () => {
  const world = openWorld([topUp({ amount: 10n }), hold("hold_1", { amount: 6n })]);
  const correction = { kind: "adjust", id: "txn_fix", accountId, cause } as const;
  expect(world.apply([{ ...correction, amount: nano(-5n) }], noon)).toEqual([
    { kind: "refused", reason: "insufficient-balance", missing: 1n, isReplay: false },
  ]);
  expect(world.apply([{ ...correction, amount: nano(-4n) }], noon)).toEqual([{ kind: "booked", isReplay: false }]);
});

/** A ledger with two accounts after these operations, all applied at noon. */
function openWorld(operations: readonly Operation[]): ReducerWorld {
  const world = createReducerWorld({ accountIds: [accountId, "acct_bert"], applyBatch, handout: "everything" });
  for (const { kind } of world.apply(operations, noon)) expect(kind).toMatch(/^(booked|held|settled)$/);
  return world;
}

function hoursAfterNoon(hours: number): Date {
  return new Date(noon.getTime() + hours * hourMs);
}

function topUp({ amount }: { amount: bigint }): TopUpOperation {
  return { kind: "top-up", id: "txn_cash", accountId, amount: nano(amount), channel: "card", cause };
}

function grant(
  id: TransactionId,
  { amount, unit = "money", expiresAt = null }: { amount: bigint; unit?: Unit; expiresAt?: Date | null },
): GrantOperation {
  return { kind: "grant", id, accountId, unit, amount, expiresAt, channel: "code", cause };
}

function hold(
  id: HoldId,
  parts: { amount: bigint; quota?: HoldOperation["quota"]; budget?: HoldOperation["budget"] },
): HoldOperation {
  const { quota = null, budget = null } = parts;
  const expiresAt = hoursAfterNoon(1);
  return { kind: "hold", id, accountId, amount: nano(parts.amount), quota, budget, cause, expiresAt };
}

function extend(holdId: HoldId, amount: bigint): Operation {
  const facts = { quotaUnits: 0n, budgetAmount: null, expiresAt: null };
  return { kind: "extend", accountId, holdId, amount: nano(amount), ...facts };
}

function settle(
  holdId: HoldId,
  parts: { cost: bigint; overrun?: SettleOperation["overrun"]; budgetAmount?: bigint },
): SettleOperation {
  const { cost, overrun = "take-available", budgetAmount } = parts;
  const bill: Bill = {
    priceId: "price_1",
    items: [{ name: "tokens", quantity: cost, rate: nano(1n) }],
    per: 1n,
    minimum: nano(0n),
    quotaUnits: 0n,
  };
  const limit = budgetAmount === undefined ? null : nano(budgetAmount);
  return { kind: "settle", accountId, holdId, bill, overrun, budgetAmount: limit };
}

function refund(id: TransactionId, { amount }: { amount: bigint }): RefundOperation {
  return { kind: "refund", id, accountId, chargeId: "txn_1", amount, cause };
}

function expireBucket(bucketId: BucketId): Operation {
  return { kind: "expire-bucket", accountId, bucketId, when: "due", cause };
}

function findHold(world: ReducerWorld, id: HoldId) {
  return world.tables.holds.get(id);
}

function readBalances(world: ReducerWorld): Record<BucketId, bigint> {
  return Object.fromEntries(world.picture().buckets.map(({ id, posted }) => [id, posted]));
}

function listMovements(world: ReducerWorld, id: TransactionId): string[] {
  return world.tables.postings
    .filter((posting) => posting.id === id)
    .map(({ amount, debit, credit }) => `${amount} from ${debit} to ${credit}`);
}

import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  findFreeze,
  freezeWallet,
  invariants,
  unfreezeWallet,
  type Violation,
} from "../../src/features/ledger/invariant-store.ts";
import { rollUpUsage } from "../../src/features/ledger/roll-up-usage.ts";
import { checkAccounts, checkChangedAccounts, findViolations } from "../../src/features/ledger/verify-ledger.ts";
import { checkEverything, checkSinceSeals } from "../../src/features/ledger/verify-since-seals.ts";
import type { AccountId, HoldId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

let world: TestLedger;
let accountId: AccountId;
let otherId: AccountId;
let settledHold: HoldId;
let openHold: HoldId;
let refusedHold: HoldId;

beforeAll(async () => {
  world = await openTestLedger();
});
afterAll(() => world[Symbol.asyncDispose]());

/** An account with some of everything, rolled up, and a neighbour without violations. */
beforeEach(async () => {
  accountId = await createFullAccount();
  otherId = await createFullAccount();
  // A clock that moved would expire the holds of all tests.
  const later = new Date(world.clock.now().getTime() + 10_001);
  await rollUpUsage({ database: world.database, clock: { ...world.clock, now: () => later } });
  [settledHold, openHold, refusedHold] = (await Promise.all(
    ["settled", "open", "refused"].map(async (state) => {
      const row = await world.database
        .selectFrom("holds")
        .select("id")
        .where("account_id", "=", accountId)
        .where("state", "=", state)
        .executeTakeFirstOrThrow();
      return row.id as HoldId;
    }),
  )) as [HoldId, HoldId, HoldId];
});

async function createFullAccount(): Promise<AccountId> {
  const { ledger, parts } = world;
  const id = await world.createAccount(1000n);
  const cause = { kind: "operator", id: "act_test" } as const;
  const grant = { kind: "grant", id: parts.ids.next("txn"), accountId: id, unit: "money", amount: 100n } as const;
  await ledger.apply({ ...grant, expiresAt: null, channel: "operator", cause });
  const budget = { keyId: parts.ids.next("key"), amount: nano(500n), period: "day" } as const;
  const first = world.hold(id, 150n, { budget });
  await ledger.apply(first);
  await ledger.apply(world.settle(id, first.id, 140n));
  const chargeId = `txn_${first.id.slice(5)}` as const;
  await ledger.apply({ kind: "refund", id: parts.ids.next("txn"), accountId: id, chargeId, amount: 10n, cause });
  await ledger.apply(world.hold(id, 200n, { budget }));
  await ledger.apply(world.hold(id, 100_000n));
  return id;
}

/** Writes rows that our code never writes: the tables' triggers and checks are disabled meanwhile. */
async function corrupt(...statements: string[]): Promise<void> {
  await world.database.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    for (const statement of statements) await sql.raw(statement).execute(tx);
  });
}

const chargeBehindMark = (): string =>
  `insert into charges select 'txn_x' || substr(id, 6), hold_id, account_id, unit, price_id, item_names, item_quantities, item_rates_nano,
    rates_per, minimum_nano, quota_units, paid, lost, created_at, key_id from charges where id = '${settlement()}'`;

const usageOfNothing = (slotAt: string): string =>
  `insert into usage_rollups values ('${accountId}', '${slotAt}', null, 'price_nothing', 'money', '{images}', 1, 5, '{1}')`;

async function find(): Promise<string[]> {
  const now = world.clock.now();
  const found = await findViolations(world.database, { kind: "whole", accountIds: [accountId, otherId], now });
  expect(found.filter((violation) => violation.accountId !== accountId)).toEqual([]);
  return [...new Set(found.map(({ invariant }) => invariant))];
}

test("all invariants hold for accounts that only the ledger wrote to", async () => {
  const now = world.clock.now();
  expect(await findViolations(world.database, { kind: "whole", accountIds: "all", now })).toEqual([]);
  const recent = { kind: "recent", accountIds: [accountId, otherId], afterNumber: 0n, now } as const;
  expect(await findViolations(world.database, recent)).toEqual([]);
});

/** A corruption for each invariant. Constraints that would refuse the row are dropped first, as if by a bug. */
const cash = (): string => `bkt_${accountId.slice(5)}`;
const settlement = (): string => `txn_${settledHold.slice(5)}`;
const corruptions: [invariant: string, what: string, statements: () => string[]][] = [
  ["A", "a balance that was raised by hand", () => [`update buckets set posted = posted + 1 where id = '${cash()}'`]],
  [
    "A (end)",
    "a balance that was raised by hand",
    () => [`update buckets set posted = posted + 1 where id = '${cash()}'`],
  ],
  ["A", "an entry that was deleted", () => [`delete from postings where bucket_id = '${cash()}' and entry_number = 1`]],
  [
    "A",
    "an entry in another account's bucket",
    () => [`update buckets set account_id = '${otherId}x' where id = '${cash()}'`],
  ],
  [
    "B",
    "an entry that was changed",
    () => [`update postings set amount = amount + 1 where bucket_id = '${cash()}' and entry_number = 1`],
  ],
  [
    "B",
    "a gap in the numbers",
    () => [`update postings set entry_number = entry_number + 5 where bucket_id = '${cash()}' and entry_number = 1`],
  ],
  ["C", "held money without a hold", () => [`update buckets set held = held + 1 where id = '${cash()}'`]],
  [
    "C",
    "a hold without any held money in its buckets",
    () => [`update buckets set held = 0 where account_id = '${accountId}'`],
  ],
  ["D", "a hold larger than its parts", () => [`update holds set amount = amount + 1 where id = '${openHold}'`]],
  ["E", "a settlement of another amount", () => [`update holds set settled = settled - 1 where id = '${settledHold}'`]],
  [
    "E",
    "a charge for a released hold",
    () => [`update holds set state = 'released', settled = 0 where id = '${settledHold}'`],
  ],
  ["F", "a bucket below zero", () => [`update buckets set posted = -1 where id = '${cash()}'`]],
  ["G", "a charge whose hold is gone", () => [`delete from holds where id = '${settledHold}'`]],
  [
    "G",
    "a charge by another settlement",
    () => [`update holds set settlement_fingerprint = 'x' where id = '${settledHold}'`],
  ],
  [
    "G",
    "a settlement whose charge with its items was deleted",
    () => [`delete from charges where id = '${settlement()}'`],
  ],
  [
    "H",
    "a refusal with parts",
    () => [`update holds set bucket_ids = '{x}', bucket_amounts = '{1}' where id = '${refusedHold}'`],
  ],
  ["I", "money that the house never gave", () => [`update buckets set posted = posted + 1 where id = '${cash()}'`]],
  [
    "I",
    "a code redeemed without a posting",
    () => [
      `insert into redeem_codes (id, hash, last_four, kind, amount_nano, currency, note, created_at, redeemed_at, redeemed_by) values ('code_' || md5(random()::text), decode(md5(random()::text), 'hex'), 'ABCD', 'cash', 5, 'USD', '', now(), now(), '${accountId}')`,
    ],
  ],
  [
    "J",
    "a charge that does not match its price",
    () => [`update charges set item_quantities = '{139}' where id = '${settlement()}'`],
  ],
  [
    "J",
    "a price changed afterwards",
    () => [`update charges set item_rates_nano = '{2}' where id = '${settlement()}'`],
  ],
  [
    "J",
    "a charge below the amount taken",
    () => [`update charges set paid = 139, lost = 1 where id = '${settlement()}'`],
  ],
  ["K", "an expired hold that is open", () => [`update holds set expires_at = '2025-01-01' where id = '${openHold}'`]],
  ["L", "a budget that forgot a charge", () => [`update key_spending set spent = 0 where account_id = '${accountId}'`]],
  [
    "L",
    "a budget that lost its hold",
    () => [`update key_spending set held = held + 1 where account_id = '${accountId}'`],
  ],
  [
    "N",
    "usage of a charge counted twice",
    () => [`update usage_rollups set calls = calls + 1 where account_id = '${accountId}'`],
  ],
  [
    "N",
    "usage of other quantities",
    () => [`update usage_rollups set quantities[1] = quantities[1] - 1 where account_id = '${accountId}'`],
  ],
  ["N", "usage of a day before the first charge", () => [usageOfNothing("2020-01-01")]],
  ["N", "usage of a day after the last charge", () => [usageOfNothing("2120-01-01")]],
  [
    "N",
    "usage beyond the mark",
    () => [`update wallets set rolled_until = '-infinity' where account_id = '${accountId}'`],
  ],
  ["N", "a mark beyond what was rolled up", () => [chargeBehindMark()]],
  ["N", "usage that was forgotten", () => [`delete from usage_rollups where account_id = '${accountId}'`]],
  [
    "M",
    "a clawback without a posting",
    () => [
      `insert into clawbacks values ('re_${accountId}', '${accountId}', 'stripe', 'payment_refund', 'chk_1', 5, 5, 0, 1, now(), now())`,
    ],
  ],
];

describe("a violation is found, with its account and its rows", () => {
  test.each(corruptions)("%s: %s", async (invariant, _, statements) => {
    await world.database
      .transaction()
      .execute(async (tx) => {
        await sql`set local session_replication_role = replica`.execute(tx);
        for (const statement of statements()) await sql.raw(statement).execute(tx);
        const now = world.clock.now();
        const found = await findViolations(tx, { kind: "whole", accountIds: [accountId, otherId], now });
        expect(found.map((violation) => violation.invariant)).toContain(invariant);
        const message = found.find((violation) => violation.invariant === invariant)?.message ?? "";
        // The full check finds the same in portions: accounts from their beginning, then holds.
        const portions = [
          { kind: "sealed", accountIds: [accountId, otherId] },
          { kind: "holds", afterId: "", upToId: "hold_z" },
        ] as const;
        const parted: Violation[] = [];
        for (const portion of portions) parted.push(...(await findViolations(tx, { ...portion, now })));
        expect(parted.map((violation) => violation.invariant)).toContain(invariant);
        expect(message).toMatch(/bkt_|txn_|hold_|key_|chk_|codes|buckets of|usage of/);
        throw new RolledBack();
      })
      .catch((error: unknown) => {
        if (!(error instanceof RolledBack)) throw error;
      });
    expect(await find()).toEqual([]);
  });

  test("every invariant is among them", () => {
    expect(new Set(corruptions.map(([name]) => name))).toEqual(new Set(invariants.map(({ name }) => name)));
  });
});

class RolledBack extends Error {}

test("an account with a violation is frozen: it spends no more, and its neighbour does", async () => {
  await corrupt(`update buckets set posted = posted + 1 where id = '${cash()}'`);
  const now = world.clock.now();
  const scope = { kind: "whole", accountIds: [accountId, otherId], now } as const;
  expect(await checkAccounts(world.database, scope)).toMatchObject({ frozen: [accountId] });
  const again = await checkAccounts(world.database, scope);
  expect(again.frozen).toEqual([]);
  expect(again.violations.length).toBeGreaterThan(0);
  expect((await findFreeze(world.database, accountId))?.reason).toContain(cash());

  const { ledger } = world;
  expect(await ledger.apply(world.hold(accountId, 1n))).toMatchObject({ kind: "refused", reason: "account-frozen" });
  expect(await ledger.apply(world.hold(otherId, 1n))).toMatchObject({ kind: "held" });
  // Running work ends as usual.
  expect(await ledger.apply(world.settle(accountId, openHold, 150n))).toMatchObject({ kind: "settled", paid: 150n });

  await corrupt(`update buckets set posted = posted - 1 where id = '${cash()}'`);
  expect(await find()).toContain("B");
  await corrupt(
    `update postings set balance_after = balance_after - 1 where account_id = '${accountId}' and kind = 'charge' and bucket_id = '${cash()}' and id <> '${settlement()}'`,
  );
  expect(await find()).toEqual([]);
  expect(await unfreezeWallet(world.database, accountId)).toBe(true);
  expect(await ledger.apply(world.hold(accountId, 1n))).toMatchObject({ kind: "held" });
});

test("a process that caches an account learns at once that it was frozen, and that it is unfrozen", async () => {
  const { ledger } = world;
  const id = await world.createAccount(1000n);
  const hold = () => ledger.apply(world.hold(id, 1n));
  expect(await hold()).toMatchObject({ kind: "held" });
  expect(await hold()).toMatchObject({ kind: "held" });
  expect(await freezeWallet(world.database, id, "a test")).toBe(true);
  // More of them than a process stays cautious for after it met another one.
  for (let index = 0; index < 20; index += 1) expect(await hold()).toMatchObject({ reason: "account-frozen" });
  expect(await unfreezeWallet(world.database, id)).toBe(true);
  expect(await hold()).toMatchObject({ kind: "held" });
});

test("the incremental check finds a violation in a changed account, and reads no other", async () => {
  const check = async () => (await checkChangedAccounts(world.database, world.clock.now())).violations;
  expect(await check()).toEqual([]);
  await world.ledger.apply(world.hold(accountId, 1n));
  await corrupt(`update buckets set held = held + 1 where id = '${cash()}'`);
  expect(await check()).toMatchObject([{ invariant: "C", accountId }]);
  await corrupt(`update wallets set changed_at = now() - interval '1 hour'`);
  expect(await check()).toEqual([]);
  await corrupt(`update buckets set held = held - 1 where id = '${cash()}'`);
});

test("the incremental check resumes where the last one ended, however long ago that was", async () => {
  const check = async () => (await checkChangedAccounts(world.database, world.clock.now())).violations;
  await check();
  await check();
  const charge = world.hold(accountId, 5n);
  await world.ledger.apply(charge);
  await world.ledger.apply(world.settle(accountId, charge.id, 5n));
  // No check ran for a day; the first changes of that day are old entries by now.
  await corrupt(
    `update ledger_checks set checked_at = checked_at - interval '1 day'`,
    `update wallets set changed_at = changed_at - interval '23 hours'`,
    `update postings set amount = amount + 1 where id = 'txn_${charge.id.slice(5)}'`,
  );
  const found = await check();
  expect(new Set(found.map(({ invariant }) => invariant))).toEqual(new Set(["B", "E", "J"]));
  expect(new Set(found.map((violation) => violation.accountId))).toEqual(new Set([accountId]));
  // Entries that were checked twice are not read again: the nightly check does that.
  await corrupt(`update wallets set changed_at = now()`);
  await check();
  expect((await check()).map(({ invariant }) => invariant)).not.toContain("B");
  await corrupt(`update postings set amount = amount - 1 where id = 'txn_${charge.id.slice(5)}'`);
  expect(await find()).toEqual([]);
});

describe("checked entries are sealed", () => {
  /** Small, so that an account is checked in many parts. */
  const portions = { accounts: 3, entries: 3, holds: 4 };

  // A ledger with few accounts: each of them is read by many statements.
  beforeEach(async () => {
    await world[Symbol.asyncDispose]();
    world = await openTestLedger();
    accountId = await createFullAccount();
    otherId = await createFullAccount();
  });

  async function check(how: "since-seals" | "everything", signal?: AbortSignal): Promise<Violation[]> {
    const found: Violation[] = [];
    const options = {
      ...{ now: world.clock.now(), portions, signal },
      onFound: ({ violations }: { violations: readonly Violation[] }) => void found.push(...violations),
    };
    if (how === "since-seals") await checkSinceSeals(world.database, options);
    else await checkEverything(world.database, { ...options, place: "kept" });
    return found;
  }

  const namesOf = (found: readonly Violation[]): Set<string> => new Set(found.map(({ invariant }) => invariant));

  async function readSeals() {
    const { rows: seals } = await sql`select account_id, number, wallet_version from ledger_seals order by 1`.execute(
      world.database,
    );
    const { rows: sums } = await sql`select * from ledger_sealed_sums order by 1, 2, 3`.execute(world.database);
    return { seals, sums };
  }

  async function charge(amount: bigint): Promise<string> {
    const hold = world.hold(accountId, amount, { budget: { keyId: "key_seals", amount: nano(500n), period: "day" } });
    await world.ledger.apply(hold);
    await world.ledger.apply(world.settle(accountId, hold.id, amount));
    return `txn_${hold.id.slice(5)}`;
  }

  test("a violation in new entries or in a balance is found by the check since the seals; one in old entries by the full check", async () => {
    expect(await check("since-seals")).toEqual([]);
    const old = await charge(5n);
    expect(await check("since-seals")).toEqual([]);

    const planted = await charge(6n);
    await corrupt(`update postings set amount = amount + 1 where id = '${planted}'`);
    expect(namesOf(await check("since-seals"))).toEqual(new Set(["A", "B", "E", "I", "J"]));
    await corrupt(`update postings set amount = amount - 1 where id = '${planted}'`);
    expect(await check("since-seals")).toEqual([]);

    // The following chain was changed consistently: only the seal differs.
    await corrupt(
      `update postings set amount = amount - 1 where id = '${old}'`,
      `update postings set balance_after = balance_after + 1 where bucket_id = '${cash()}' and number >=
        (select number from postings where id = '${old}')`,
      `update buckets set posted = posted + 1 where id = '${cash()}'`,
    );
    expect(namesOf(await check("since-seals"))).toEqual(new Set(["A", "I"]));
    await corrupt(`update buckets set posted = posted - 1 where id = '${cash()}'`);
    expect(namesOf(await check("since-seals"))).toEqual(new Set(["A (end)"]));
    await corrupt(
      `update postings set balance_after = balance_after - 1 where bucket_id = '${cash()}' and number >=
        (select number from postings where id = '${old}')`,
    );
    expect(await check("since-seals")).toEqual([]);
    expect(namesOf(await check("everything"))).toEqual(new Set(["B", "E", "J"]));
    await corrupt(`update postings set amount = amount + 1 where id = '${old}'`);
    expect(await check("everything")).toEqual([]);
    // An account that was read in parts, and usage from before all of them.
    await corrupt(usageOfNothing("2020-01-01"));
    expect(await check("since-seals")).toEqual([]);
    expect(namesOf(await check("everything"))).toEqual(new Set(["N"]));
    await corrupt(`delete from usage_rollups where price_id = 'price_nothing'`);
    expect(await check("everything")).toEqual([]);
    const { seals } = await readSeals();
    await unfreezeWallet(world.database, accountId);
    expect((await readSeals()).seals).toHaveLength(seals.length - 1);
  });

  test("in portions as in one, also by a check that is interrupted repeatedly", async () => {
    for (let index = 0; index < 5; index += 1) await charge(3n);
    expect(await checkSinceSeals(world.database, { now: world.clock.now(), onFound: fail })).toMatchObject({
      holds: 0,
    });
    const sealed = await readSeals();
    let cuts = 0;
    for (let isOver = false; !isOver; cuts += 1) {
      // Interrupted at its third query, wherever that is.
      let looks = 0;
      const signal = {
        get aborted() {
          looks += 1;
          return looks > 2;
        },
      } as AbortSignal;
      expect(await check("everything", signal)).toEqual([]);
      const place = await world.database.selectFrom("ledger_checks").selectAll().executeTakeFirstOrThrow();
      isOver = place.whole_account_id === null;
      expect(cuts).toBeLessThan(100);
    }
    expect(cuts).toBeGreaterThan(5);
    expect(await readSeals()).toEqual(sealed);
  });

  test("under load nothing is found that is not wrong, and everything is sealed in the end", async () => {
    const load = Array.from({ length: 60 }, (_, index) => charge(BigInt((index % 4) + 1)));
    let isOver = false;
    const checks = (async () => {
      for (let round = 0; !isOver; round += 1) {
        expect(await check(round % 3 === 2 ? "everything" : "since-seals")).toEqual([]);
      }
    })();
    await Promise.all(load);
    isOver = true;
    await checks;
    expect(await check("since-seals")).toEqual([]);
    const sealed = await readSeals();
    expect(await check("everything")).toEqual([]);
    expect(await readSeals()).toEqual(sealed);
  });
});

function fail(): never {
  throw new Error("something was found");
}

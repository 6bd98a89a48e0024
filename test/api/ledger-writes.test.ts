import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nano } from "../../src/lib/money.ts";
import { migrate } from "../../src/platform/database/migrate.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened[Symbol.asyncDispose]());

test("texts are stored unchanged, whatever they contain", async () => {
  const { ledger, database } = opened;
  const texts = ['say "x"', "back\\slash", "a,b (c) {d}", "null", "NULL", "größe 漢字 😀", " ", "'; --", "\n\t"];
  const accountId = await opened.createAccount(1_000_000n);
  const holds = texts.map((id) => opened.hold(accountId, 100n, { cause: { kind: "task", id }, keyId: id }));
  await Promise.all(holds.map((hold) => ledger.apply(hold)));
  const items = texts.map((name, index) => ({ name, quantity: BigInt(index), rate: nano(1n) }));
  const settlements = holds.map(({ id }, index) =>
    opened.settle(accountId, id, 0n, {
      bill: { priceId: texts[index] ?? "", items, per: 1n, minimum: nano(0n), quotaUnits: 0n },
    }),
  );
  const results = await Promise.all(settlements.map((settlement) => ledger.apply(settlement)));
  expect(results).toEqual(texts.map(() => ({ kind: "settled", unit: "money", paid: 36n, lost: 0n, isReplay: false })));
  const stored = await database
    .selectFrom("holds")
    .innerJoin("charges", "charges.hold_id", "holds.id")
    .innerJoin("postings", "postings.id", "charges.id")
    .select([
      "holds.cause_id",
      "holds.key_id",
      "price_id",
      "item_names",
      "item_quantities",
      "postings.cause_id as cause",
    ])
    .where("holds.account_id", "=", accountId)
    .orderBy("postings.number")
    .execute();
  expect(stored).toEqual(
    texts.map((text) => ({
      cause_id: text,
      key_id: text,
      price_id: text,
      item_names: texts,
      item_quantities: texts.map((_, index) => BigInt(index)),
      cause: text,
    })),
  );
});

test("tables reject an impossible hold, a movement to itself and a bill without its rates", async () => {
  const { ledger, database } = opened;
  const accountId = await opened.createAccount(1_000n);
  const hold = opened.hold(accountId, 100n);
  await ledger.apply(hold);
  const settled = opened.hold(accountId, 100n);
  await ledger.apply(settled);
  await ledger.apply(opened.settle(accountId, settled.id, 40n));
  const refused: [constraint: string, statement: string][] = [
    ["holds_state_valid", `update holds set state = 'settled' where id = '${hold.id}'`],
    ["holds_amount_positive", `update holds set amount = 0 where id = '${hold.id}'`],
    ["holds_state_valid", `update holds set state = 'lost' where id = '${hold.id}'`],
    ["holds_refusal_complete", `update holds set refusal = 'x', missing = 1 where id = '${hold.id}'`],
    ["holds_settled_within", `update holds set settled = amount + 1 where id = '${settled.id}'`],
    ["holds_state_valid", `update holds set bucket_ids = '{}' where id = '${hold.id}'`],
    ["buckets_never_overdrawn", `update buckets set held = posted + 1 where account_id = '${accountId}'`],
    ["buckets_closed_empty", `update buckets set is_open = false where account_id = '${accountId}'`],
    ["buckets_cash_stays", `update buckets set expires_at = now() where account_id = '${accountId}'`],
    ["wallets_reserved_valid", `update wallets set reserved = -1 where account_id = '${accountId}'`],
    ["postings_amount_positive", copyRow("postings", settled.id, { leg: 1, amount: 0 })],
    ["postings_kind_valid", copyRow("postings", settled.id, { leg: 1, kind: "'gift'" })],
    ["charges_items_complete", copyRow("charges", settled.id, { id: "'txn_other'", item_names: "'{}'" })],
    ["charges_amounts_valid", copyRow("charges", settled.id, { id: "'txn_other'", paid: -1 })],
  ];
  for (const [constraint, statement] of refused)
    await expect(sql.raw(statement).execute(database), statement).rejects.toMatchObject({ code: "23514", constraint });
});

test("checks that a migration adds for new rows only are validated for old rows later", async () => {
  const { database } = opened;
  const listUnchecked = async (): Promise<string[]> => {
    const { rows } = await sql<{ name: string }>`
      select conname as name from pg_constraint where contype = 'c' and not convalidated`.execute(database);
    return rows.map(({ name }) => name);
  };
  expect(await listUnchecked()).toEqual([]);
  await sql`alter table holds add constraint holds_of_a_test check (amount < 1000000) not valid`.execute(database);
  expect(await listUnchecked()).toEqual(["holds_of_a_test"]);
  await migrate({ connectionString: opened.url });
  expect(await listUnchecked()).toEqual([]);
  await sql`alter table holds drop constraint holds_of_a_test`.execute(database);
});

/** Inserts a settlement's row again with some changes. */
function copyRow(table: "postings" | "charges", holdId: string, changed: Record<string, string | number>): string {
  const id = `txn_${holdId.slice("hold_".length)}`;
  const values = Object.entries(changed).map(([column, value]) => `'${column}', ${value}`);
  const row = `jsonb_populate_record(${table}, jsonb_build_object(${values.join(", ")}))`;
  return `insert into ${table} overriding user value select (${row}).* from ${table} where id = '${id}'`;
}

import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appendAudit, everyEntry, listAudit, type NewAuditEntry, verifyAudit } from "../../src/features/audit/index.ts";
import { createDatabase, type Database, toDatabaseAddress } from "../../src/platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({
    address: toDatabaseAddress(testDatabase.url),
    connectionsMax: 8,
    onConnectionError: () => {},
  });
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

const entry: NewAuditEntry = {
  actor: { kind: "operator", id: "user_1", name: "ada@example.com" },
  address: "10.0.0.1",
  action: "account.suspended",
  subject: "acct_1",
  accountId: "acct_1",
  reason: "fraud",
  before: { suspended_at: null, held: 12n },
  after: { suspended_at: "2026-01-07T12:00:00.000Z" },
  requestId: "req_1",
};

/** As a person with access to the database would. */
async function tamper(change: string): Promise<void> {
  await sql.raw("alter table audit_entries disable trigger user").execute(database);
  await sql.raw(change).execute(database);
  await sql.raw("alter table audit_entries enable trigger user").execute(database);
}

test("concurrent transactions form one gapless chain", async () => {
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      database.transaction().execute((tx) => appendAudit(tx, { ...entry, subject: `acct_${index}` })),
    ),
  );
  const entries = await listAudit(database, everyEntry, { before: null, limit: 100 });
  expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: 40 }, (_, index) => BigInt(40 - index)));
  expect(entries[0]).toMatchObject({
    ...entry,
    subject: entries[0]?.subject,
    before: { suspended_at: null, held: "12" },
  });
  expect(await verifyAudit(database)).toMatchObject({ entries: 40, fault: null, head: { number: 40n } });
});

test("an entry of a transaction that fails is not there, and its number is not missing", async () => {
  const failing = database.transaction().execute(async (tx) => {
    await appendAudit(tx, entry);
    throw new Error("the change failed");
  });
  await expect(failing).rejects.toThrow("the change failed");
  await appendAudit(database, entry);
  expect(await verifyAudit(database)).toMatchObject({ entries: 41, fault: null });
});

test("entries are neither changed nor removed", async () => {
  for (const change of ["update audit_entries set reason = 'x'", "delete from audit_entries"]) {
    await expect(sql.raw(change).execute(database)).rejects.toThrow("never changed or deleted");
  }
});

test("filters find entries by account, actor, subject, action and its noun", async () => {
  await appendAudit(database, { ...entry, action: "key.revoked", accountId: "acct_other", subject: "key_1" });
  const count = async (filter: Partial<typeof everyEntry>) =>
    (await listAudit(database, { ...everyEntry, ...filter }, { before: null, limit: 100 })).length;
  expect(await count({ action: "key" })).toBe(1);
  expect(await count({ action: "key.revoked" })).toBe(1);
  expect(await count({ action: "ke" })).toBe(0);
  expect(await count({ accountId: "acct_other" })).toBe(1);
  expect(await count({ subject: "key_1" })).toBe(1);
  expect(await count({ actor: "ada@example.com" })).toBe(42);
  expect(await count({ actor: "user_1", action: "account" })).toBe(41);
  expect(await count({ to: new Date(0) })).toBe(0);
  const [second] = await listAudit(database, everyEntry, { before: 42n, limit: 1 });
  expect(second?.number).toBe(41n);
});

test("the verification finds a changed, an inserted, a removed and a cut-off entry", async () => {
  const { head } = await verifyAudit(database);
  if (head === null) throw new Error("the log is empty");
  await tamper("update audit_entries set reason = 'nothing' where number = 7");
  expect((await verifyAudit(database)).fault).toEqual({ kind: "changed", number: 7n });
  await tamper("update audit_entries set reason = 'fraud' where number = 7");
  expect((await verifyAudit(database)).fault).toBeNull();
  // A changed entry with its own hash computed again contradicts the next one.
  await tamper("update audit_entries e set reason = 'x' where number = 9");
  await tamper("update audit_entries e set facts_digest = audit_facts(e) where number = 9");
  await tamper("update audit_entries e set hash = audit_hash(e) where number = 9");
  expect((await verifyAudit(database)).fault).toEqual({ kind: "changed", number: 10n });
  await tamper("update audit_entries e set reason = 'fraud' where number = 9");
  await tamper("update audit_entries e set facts_digest = audit_facts(e) where number = 9");
  await tamper("update audit_entries e set hash = audit_hash(e) where number = 9");
  await tamper("create table removed as select * from audit_entries where number = 20");
  await tamper("delete from audit_entries where number = 20");
  expect((await verifyAudit(database)).fault).toEqual({ kind: "changed", number: 21n });
  await tamper("insert into audit_entries select * from removed");
  expect((await verifyAudit(database)).fault).toBeNull();
  await tamper(`delete from audit_entries where number = ${head.number}`);
  expect((await verifyAudit(database)).fault).toBeNull();
  expect((await verifyAudit(database, head)).fault).toEqual({ kind: "cut-off", number: head.number });
});

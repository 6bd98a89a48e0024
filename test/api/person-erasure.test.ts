// @module-tag slow
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { grantOperator, revokeOperator } from "../../src/features/admin/index.ts";
import { exportedTables } from "../../src/features/admin/people/export-store.ts";
import { everyEntry, listAudit, verifyAudit } from "../../src/features/audit/index.ts";
import type { UserId } from "../../src/lib/ids.ts";
import { type Operator, onHost, signUpOperator } from "../harness/admin/admin-visitor.ts";
import { runCommandHere } from "../harness/run-command-here.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type FurnishedAccount, furnishAccount } from "../harness/site/furnished-account.ts";
import { signUpVisitor, visitorSettings } from "../harness/site/site-visitor.ts";
import { createRunningClock, type TestClock } from "../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

let stripe: StripeServer;
let shared: TestDatabase;
let gateway: TestGateway;
let clock: TestClock;
let operator: Operator;

beforeAll(async () => {
  clock = createRunningClock();
  stripe = await startStripeServer({ clock });
  shared = await createTestDatabase();
  gateway = await startGateway({
    clock,
    sharedDatabase: shared,
    settings: {
      ...visitorSettings,
      stripe_secret_key: stripe.secretKey,
      stripe_webhook_secret: stripe.webhookSecret,
    },
    stripe: { url: stripe.url },
  });
  operator = await signUpOperator(gateway, { now: () => clock.now() });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await shared.close();
  await stripe[Symbol.asyncDispose]();
});

type Subject = FurnishedAccount & { accountId: string; userId: UserId; name: string; words: string[] };

/** A customer with one of everything, whom operators wrote about. */
async function furnishPerson(): Promise<Subject> {
  const owner = await furnishAccount(gateway);
  const name = `Grace Hopper ${randomBytes(4).toString("hex")}`;
  await owner.visitor.patch("/account", { name });
  const { account, user } = (await owner.visitor.get("/session")).body;
  await owner.visitor.patch("/billing_details", { legal_name: name, address: `${name} Street 1` });
  await operator.admin.post(`/accounts/${account.id}/notes`, { text: `${name} called from ${owner.visitor.address}` });
  const canary = owner.email.split("@")[0] ?? "";
  const words = [owner.email, name, owner.visitor.address, canary];
  return { ...owner, accountId: account.id, userId: user.id, name, words };
}

async function close({ accountId }: Subject): Promise<void> {
  expect((await operator.admin.post(`/accounts/${accountId}/close`, { reason: "asked to leave" })).status).toBe(200);
}

type Place = { table: string; column: string };

/** Every column of every table that can hold a text. */
async function listTextColumns(): Promise<(Place & { type: string })[]> {
  const { rows } = await sql<Place & { type: string }>`
    select relname as table, attname as column, format_type(atttypid, atttypmod) as type
      from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition and attnum > 0
        and not attisdropped and format_type(atttypid, atttypmod) ~ '^(text|character|json|bytea|inet)'`.execute(
    gateway.database,
  );
  return rows;
}

async function findPlaces(words: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const { table, column, type } of await listTextColumns()) {
    const text = type === "bytea" ? sql`encode(${sql.ref(column)}, 'escape')` : sql`${sql.ref(column)}::text`;
    const { rows } = await sql<{ count: string }>`
      select count(*) as count from ${sql.table(table)}
        where exists (select from unnest(${[...words]}::text[]) word where strpos(lower(${text}), lower(word)) > 0)`.execute(
      gateway.database,
    );
    if (Number(rows[0]?.count) > 0) found.push(`${table}.${column}`);
  }
  return found.toSorted();
}

/** Where a person's data may stay, and why. `docs/security.md` lists the same. */
const kept: Readonly<Record<string, string>> = {
  "billing_documents.content": "Tax law: invoices are kept as they were issued.",
};

test("after an erasure, no column of any table has the person's mail address, name, IP address or contents", async () => {
  const person = await furnishPerson();
  const before = await findPlaces(person.words);
  for (const place of ["users.email", "accounts.email", "users.name", "audit_entries.address", "tasks.request"]) {
    expect(before).toContain(place);
  }
  await close(person);
  const { status, body } = await operator.admin.post(`/accounts/${person.accountId}/erase`, {
    reason: "their request",
  });
  expect([status, body]).toMatchObject([200, { object: "person_erasure", account_id: person.accountId }]);
  expect(body.audit_entries).toBeGreaterThan(0);
  const left = await waitUntil("the deletion of files", async () => {
    const places = await findPlaces(person.words);
    return places.some((place) => place.startsWith("files.")) ? null : places;
  });
  expect(left.filter((place) => !Object.hasOwn(kept, place))).toEqual([]);
  expect(await verifyAudit(gateway.database)).toMatchObject({ fault: null });
  const page = (await operator.admin.get(`/accounts/${person.accountId}`)).body;
  expect(page).toMatchObject({ email: `erased@${person.accountId}.invalid`, members: [] });
  expect((await operator.admin.get(`/accounts/${person.accountId}/charges`)).body.data).not.toEqual([]);
  expect((await operator.admin.get("/frozen-accounts")).body.data).toEqual([]);
  const [entry] = await listAudit(
    gateway.database,
    { ...everyEntry, accountId: person.accountId, action: "person.erased" },
    { before: null, limit: 1 },
  );
  expect(entry).toMatchObject({ subject: person.userId, reason: "their request" });
  const again = await operator.admin.post(`/accounts/${person.accountId}/erase`, { reason: "again" });
  expect(again.body.error.code).toBe("not_found");
});

test("what a running call writes after the erasure of its account is deleted, too", async () => {
  const person = await furnishPerson();
  const { accountId } = person;
  await close(person);
  await operator.admin.post(`/accounts/${accountId}/erase`, { reason: "their request" });
  const late = `late ${person.name}`;
  await sql`
    insert into request_errors (account_id, created_at, id, message)
      values (${accountId}, ${clock.now()}, 'req_late', ${late})`.execute(gateway.database);
  expect(await findPlaces([late])).toEqual(["request_errors.message"]);
  const job = gateway.database.updateTable("scheduled_jobs").where("name", "=", "erase-late-rows");
  await job.set({ due_at: new Date(0) }).execute();
  await waitUntil("the deletion", async () => (await findPlaces([late])).length === 0);
});

test("a former operator is erased from what they signed, too", async () => {
  const { visitor, email } = await signUpVisitor(gateway);
  const { account, user } = (await visitor.get("/session")).body;
  await grantOperator(gateway.parts, { email, role: "operator", acting: onHost, reason: `${email} joins` });
  const acting = { ...onHost, actor: { kind: "operator" as const, id: user.id, name: email } };
  const other = await signUpVisitor(gateway);
  await grantOperator(gateway.parts, { email: other.email, role: "reader", acting, reason: null });
  const refused = await closeAndErase(account.id);
  expect(refused.body.error.message).toContain("Revoke the role first");
  await revokeOperator(gateway.database, { userId: user.id, acting: onHost, reason: null });
  expect((await closeAndErase(account.id)).status).toBe(200);
  expect(await findPlaces([email, visitor.address])).toEqual([]);
  expect(await verifyAudit(gateway.database)).toMatchObject({ fault: null });
});

test("an entry of an earlier version is blanked as a whole, and counted by the erasure", async () => {
  const { visitor } = await signUpVisitor(gateway);
  const { account } = (await visitor.get("/session")).body;
  await visitor.post("/keys", { name: "old" });
  const filter = { ...everyEntry, accountId: account.id };
  const [newest] = await listAudit(gateway.database, filter, { before: null, limit: 1 });
  const number = newest?.number ?? 0n;
  // As it was written before migration 34: the hash covers the texts.
  await withoutTriggers(sql`
    update audit_entries set who_salt = null, who_digest = null, facts_salt = null, facts_digest = null
      where number = ${number}`);
  await withoutTriggers(sql`
    update audit_entries entry set hash = audit_hash(entry.*::audit_entries) where number = ${number}`);
  expect(await verifyAudit(gateway.database)).toMatchObject({ fault: null });
  expect((await closeAndErase(account.id)).status).toBe(200);
  expect(await verifyAudit(gateway.database)).toMatchObject({ fault: null });
  const entries = await listAudit(gateway.database, filter, { before: null, limit: 100 });
  expect(entries.find((entry) => entry.number === number)).toMatchObject({
    ...{ actor: { name: "erased" }, address: null, action: "key.created", after: null },
  });
  expect(entries[0]).toMatchObject({ action: "person.erased", after: { old_audit_entries: 1 } });
});

/** What only an attacker with the database, or an earlier version, can do. */
async function withoutTriggers(statement: ReturnType<typeof sql>): Promise<void> {
  await sql`alter table audit_entries disable trigger user`.execute(gateway.database);
  await statement.execute(gateway.database);
  await sql`alter table audit_entries enable trigger user`.execute(gateway.database);
}

async function closeAndErase(accountId: string) {
  await operator.admin.post(`/accounts/${accountId}/close`, { reason: "asked to leave" });
  return await operator.admin.post(`/accounts/${accountId}/erase`, { reason: "asked to be erased" });
}

test("a person who can still sign in is not erased", async () => {
  const { visitor } = await signUpVisitor(gateway);
  const { account } = (await visitor.get("/session")).body;
  const { status, body } = await operator.admin.post(`/accounts/${account.id}/erase`, { reason: "early" });
  expect([status, body.error.message]).toEqual([400, expect.stringContaining("Close the account first")]);
  expect((await visitor.get("/account")).status).toBe(200);
});

test("blanking an entry outside of an erasure, or changing its texts, breaks the chain", async () => {
  const tampers = [
    sql`update audit_entries set erased_at = now(), actor_name = 'nobody'`,
    sql`update audit_entries set actor_name = 'nobody'`,
    sql`update audit_entries set erased_at = now(), action = 'a.b'`,
    sql`update audit_entries set erased_at = now(), reason = null`,
    sql`delete from audit_entries`,
  ];
  for (const tamper of tampers) {
    await expect(tamper.execute(gateway.database)).rejects.toThrow("never changed or deleted");
  }
  const { rows } = await sql<{ number: bigint }>`select number from audit_entries order by number limit 1`.execute(
    gateway.database,
  );
  const number = rows[0]?.number ?? 0n;
  await sql`create table kept_entry as select * from audit_entries where number = ${number}`.execute(gateway.database);
  // As a version before 0034 wrote it, blanked without an erasure.
  await withoutTriggers(sql`
    update audit_entries set who_salt = null, who_digest = null, facts_salt = null, facts_digest = null,
        erased_at = now(), actor_name = 'erased', address = null, reason = null, before = null, after = null
      where number = ${number}`);
  expect(await verifyAudit(gateway.database)).toMatchObject({ fault: { kind: "changed", number } });
  await withoutTriggers(sql`
    update audit_entries entry set who_salt = old.who_salt, who_digest = old.who_digest, facts_salt = old.facts_salt,
        facts_digest = old.facts_digest, erased_at = null, actor_name = 'Mallory', address = old.address,
        reason = old.reason, before = old.before, after = old.after
      from kept_entry old where entry.number = old.number`);
  expect(await verifyAudit(gateway.database)).toMatchObject({ fault: { kind: "changed", number } });
  await withoutTriggers(sql`
    update audit_entries entry set actor_name = old.actor_name from kept_entry old where entry.number = old.number`);
  await sql`drop table kept_entry`.execute(gateway.database);
  expect(await verifyAudit(gateway.database)).toMatchObject({ fault: null });
});

test("the commands close, export and erase, with JSON", async () => {
  const { visitor, email } = await signUpVisitor(gateway);
  const { account } = (await visitor.get("/session")).body;
  const folder = mkdtempSync(join(tmpdir(), "sluice-archive-"));
  const environment = { SLUICE_DATABASE_URL: shared.url, SLUICE_DATA_DIR: folder };
  const run = async (...words: string[]) => {
    const all = ["account", ...words, "--reason", "case 17", "--json"];
    const { exitCode, stdout, stderr } = await runCommandHere(all, { environment });
    return exitCode === 0 ? JSON.parse(stdout) : { exitCode, text: stdout + stderr };
  };
  try {
    const output = join(folder, "copy.tar.gz");
    expect(await run("export", account.id, "--output", output)).toEqual({ account_id: account.id, output });
    expect(spawnSync("tar", ["-xzOf", output, "user.ndjson"], { encoding: "utf8" }).stdout).toContain(email);
    expect(await run("export", account.id, "--output", output)).toMatchObject({ exitCode: 1 });
    expect(await run("erase", account.id)).toMatchObject({
      text: expect.stringContaining("Close the account first"),
    });
    expect(await run("close", account.id)).toEqual({ account_id: account.id, status: "closed" });
    expect(await run("erase", account.id)).toMatchObject({ account_id: account.id });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  expect(await findPlaces([email])).toEqual([]);
});

/** Tables with an account's or a user's id that the archive leaves out. */
const unexported: Readonly<Record<string, string>> = {
  account_webhook_secrets: "A secret.",
  api_key_uses: "In the keys' list as the last use; it has no account.",
  erasures: "Only of erased accounts.",
  file_usages: "A sum of the files.",
  idempotency_keys: "Copies of responses, for a day.",
  ledger_sealed_sums: "Sums of the ledger.",
  ledger_seals: "Sums of the ledger.",
  operators: "Of the operator side.",
  prices: "The operator's terms.",
  request_blocks: "Read through the request log: requests.ndjson.",
  request_contents: "Encrypted: owners read and delete it themselves.",
  request_errors: "Read through the request log: requests.ndjson.",
  request_gaps: "Counts of lost lines.",
  requests: "Read through the request log: requests.ndjson.",
  stored_texts: "A sum of texts.",
  uncharged_costs: "What upstreams charged the operator.",
  usage_rollups: "Sums of the charges.",
  user_backup_codes: "Secrets.",
  user_tokens: "Secrets of mails, for hours.",
  wallets: "Sums of the ledger.",
};

test("the archive has everything that is stored, without secrets", async () => {
  const person = await furnishPerson();
  const response = await fetch(`${gateway.siteUrl}/admin/v1/accounts/${person.accountId}/export`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-forwarded-for": operator.visitor.address,
      cookie: [...operator.visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
      origin: "http://localhost:4242",
      "sec-fetch-site": "same-origin",
    },
    body: JSON.stringify({ reason: "asked for a copy" }),
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/gzip"]);
  const folder = mkdtempSync(join(tmpdir(), "sluice-archive-"));
  try {
    writeFileSync(join(folder, "archive.tar.gz"), Buffer.from(await response.arrayBuffer()));
    const { status, stderr } = spawnSync("tar", ["-xzf", "archive.tar.gz"], { cwd: folder, encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
    const read = (name: string): Record<string, unknown>[] =>
      readFileSync(join(folder, `${name}.ndjson`), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    expect(read("user")).toMatchObject([{ email: person.email, name: person.name }]);
    expect(read("keys").map(({ id }) => id)).toContain(person.ids.keys);
    expect(read("tasks").map(({ id }) => id)).toContain(person.ids.tasks);
    expect(read("charges").map(({ id }) => id)).toContain(person.ids.charges);
    expect(read("requests").map(({ id }) => id)).toContain(person.ids.requests);
    expect(read("invoices")).not.toEqual([]);
    expect(read("for-review/audit-log").map(({ action }) => action)).toContain("key.created");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ndjson"));
    const all = files.map((file) => readFileSync(join(folder, file), "utf8")).join("");
    for (const secret of [person.key, "argon2id", "whsec_", "sealed_", "token_hash", "cost"]) {
      expect(all.includes(secret), secret).toBe(false);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("every table about an account or a user is in the archive, or is left out for a reason", async () => {
  const { rows } = await sql<{ table: string }>`
    select distinct relname as table from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
        and attname in ('account_id', 'user_id') and not attisdropped`.execute(gateway.database);
  const known = new Set([...exportedTables.map(({ table }) => table), ...Object.keys(unexported)]);
  expect(rows.map(({ table }) => table).filter((table) => !known.has(table))).toEqual([]);
});

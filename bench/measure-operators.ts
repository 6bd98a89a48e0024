import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import pg from "pg";
import { createAdminKey } from "../src/features/admin/index.ts";
import { sumMoneySlots } from "../src/features/costs/index.ts";
import type { BlockRecord } from "../src/features/requests/request-block.ts";
import { insertRequests } from "../src/features/requests/request-store.ts";
import { systemClock } from "../src/lib/clock.ts";
import { type AccountId, createIdSource } from "../src/lib/ids.ts";
import { createDatabase, type Database } from "../src/platform/database/database.ts";
import { describeModels } from "./chat-targets.ts";
import { readClusterAddress } from "./cluster-address.ts";
import { fillAccounts, fillCharges } from "./fill-ledger.ts";
import { findMedian } from "./measure-cpu.ts";
import { describeCall } from "./measure-requests.ts";
import { type SluiceGateway, startSluice } from "./sluice-gateway.ts";
import { presentTable, writeResults } from "./write-results.ts";

const pageGoalMsMax = 300;
const pageReads = 5;
const dayMs = 86_400_000;
const portion = 20_000;
/** The oldest accounts are younger. */
const daysMax = 60;
const callsOfAccount = 100;

/** A name and a key for each account, a payment for every second one, a file for every tenth. */
const peopleStatement = `
  insert into users (id, account_id, email, name, created_at)
    select 'user_' || substr(account_id, 6), account_id, position || '@bench.example.com', 'Person ' || position, now() - interval '40 days'
    from bench_accounts where position > 0;
  insert into api_keys (id, account_id, lineage_id, name, hash, last_four, created_at)
    select 'key_' || substr(account_id, 6), account_id, 'key_' || substr(account_id, 6), 'production ' || position,
      sha256(account_id::bytea), right(md5(account_id), 4), now() - interval '40 days'
    from bench_accounts where position > 0;
  insert into checkouts (id, account_id, amount_nano, currency, amount_minor, state, session_id, payment_id, created_at, expires_at,
      completed_at, ended_at, refunded_minor)
    select 'chk_' || bench_time(moment) || lpad(position::text, 16, '0'), account_id, 10000000000, 'USD', 1000, 'paid',
      'cs_' || position, 'pi_' || position, moment, moment + interval '1 day', moment, moment, 0
    from bench_accounts cross join lateral (select now() - interval '30 days' * (position::float8 / $accounts) as moment) at
    where position % 2 = 0 and position > 0;
  insert into sign_ups (id, created_at, network, mail_domain, account_id)
    select 'sup_' || bench_time(moment) || lpad(position::text, 16, '0'), moment, '10.' || position / 256 % 256 || '.' || position % 256 || '.0/24',
      'bench.example.com', account_id
    from bench_accounts cross join lateral (select now() - interval '40 days' as moment) at where position > 0;
  analyze;`;

/** Each operators' page is as slow as its slowest request. */
const pages: readonly [name: string, ...paths: string[]][] = [
  ["today", "/today", "/alarms"],
  ["accounts", "/accounts", "/accounts?q=person"],
  [
    "an account",
    "/accounts/$account",
    "/accounts/$account/charges?limit=10",
    "/accounts/$account/keys",
    "/accounts/$account/notes?limit=10",
  ],
  ["search by mail", "/search?q=77777@bench.example.com"],
  ["search by part of a name", "/search?q=person+7777"],
  ["search by a key's name", "/search?q=production+999"],
  ["search by request", "/search?q=$request"],
  ["search by charge", "/search?q=$charge"],
  ["search by payment", "/search?q=pi_7778"],
  ["search by a job of a vendor", "/search?q=fal-7b3c1a52-unknown"],
  ["requests: newest", "/requests?limit=50"],
  ["requests: failed", "/requests?limit=50&status=5xx"],
  ["requests: one account", "/requests?limit=50&account_id=$account"],
  ["requests: a rare model", "/requests?limit=50&model=rare"],
  ["a request", "/requests/$request"],
  ["money: payments", "/payments?limit=50"],
  ["money: revenue", "/revenue?by=day", "/revenue?by=month"],
  ["money: margins", "/margins?by=model", "/margins?by=account"],
  ["money: credit entries", "/credit-entries?limit=50"],
  ["money: refunds, frozen accounts", "/reversals", "/frozen-accounts", "/ledger-verifications"],
  ["money: invoices", "/documents?limit=50"],
  ["tasks", "/tasks?limit=50", "/queues", "/deliveries?limit=50"],
  ["storage", "/storage"],
  ["upstreams", "/upstreams", "/upstreams/events"],
  ["catalog", "/catalog", "/catalog/versions"],
  ["abuse", "/sign-ups", "/sign-ups/summary?by=network", "/sign-ups/summary?by=domain", "/blocks?kind=network"],
  ["operators", "/operators", "/keys"],
  ["audit log", "/audit"],
  ["setup", "/setup"],
];

/**
 * The operators' pages of a grown service: `npm run bench -- operators --millions 10` has ten million requests, a million
 * charges and a hundred thousand accounts.
 */
export async function measureOperators(words: string[]): Promise<void> {
  const { values } = parseArgs({ args: words, options: { millions: { type: "string", default: "10" } } });
  const requests = Number(values.millions) * 1_000_000;
  const fill = { accounts: requests / callsOfAccount, charges: requests / 10, tasks: requests / 100 };
  const gateway = await startSluice(describeModels(1));
  const address = readClusterAddress(gateway.dataDir);
  const client = new pg.Client(address);
  const database = createDatabase({ address, connectionsMax: 2, onConnectionError() {} });
  try {
    await client.connect();
    await fillAccounts(client, fill);
    await client.query(peopleStatement.replaceAll("$accounts", String(fill.accounts)));
    await fillCharges(client, fill, { from: 0, to: 1 });
    const accountIds = await listAccountIds(client);
    await fillRequests(database, accountIds, requests);
    // As the gateways' job would have done, a day per run.
    for (let run = 0; run <= daysMax; run += 1) await sumMoneySlots({ database, clock: systemClock });
    await client.query("vacuum analyze");
    const subject = await readSubject(client);
    const headers = { authorization: `Bearer ${await createKey(database)}` };
    const rows: string[][] = [];
    for (const [name, ...paths] of pages) {
      rows.push(
        await measurePage(
          name,
          paths.map((path) => fillIn(path, subject)),
          { gateway, headers },
        ),
      );
      console.error(rows.at(-1)?.join(" | "));
    }
    const count = (number: number): string => number.toLocaleString("en");
    const sentence = `${count(requests)} requests, ${count(fill.charges)} charges, ${count(fill.tasks)} tasks, ${count(fill.accounts)} accounts. The slowest request of each page, as the median of ${pageReads} reads.`;
    writeResults(
      "operators",
      `${sentence}\n\n${presentTable(["page", "slowest request", "", "goal", "verdict"], rows)}`,
    );
    if (rows.some((row) => row.includes("MISSED"))) process.exitCode = 1;
  } finally {
    await database.destroy();
    await client.end();
    await gateway.close();
  }
}

async function listAccountIds(client: pg.Client): Promise<AccountId[]> {
  const { rows } = await client.query<{ account_id: AccountId }>(
    "select account_id from bench_accounts order by position",
  );
  return rows.map(({ account_id: id }) => id);
}

/** A tenth of the calls belongs to the first account. Each other one called for some minutes. */
async function fillRequests(database: Database, accountIds: readonly AccountId[], count: number): Promise<void> {
  const ids = createIdSource({ clock: systemClock, randomBytes });
  const from = Date.now() - 29 * dayMs;
  for (let first = 1; first <= count; first += portion) {
    const records = Array.from({ length: Math.min(portion, count - first + 1) }, (_, index): BlockRecord => {
      const number = first + index;
      const position = number % 10 === 0 ? 0 : 1 + (Math.floor(number / callsOfAccount) % (accountIds.length - 1));
      const accountId = accountIds[position];
      if (accountId === undefined) throw new Error(`There is no account ${position}.`);
      return describeCall(accountId, number, new Date(Math.floor(from + (29 * dayMs * number) / count)));
    });
    await insertRequests(database, records, { nextId: () => ids.next("blk") });
    if (first % 1_000_000 === 1) console.error(`${first - 1} of ${count} requests`);
  }
}

type Subject = Record<"account" | "charge" | "request", string>;

/** An account with everything, its newest charge and the request of that. */
async function readSubject(client: pg.Client): Promise<Subject> {
  const { rows } = await client.query<Subject>(`
    select charges.account_id as account, charges.id as charge, holds.cause_id as request
      from charges join holds on holds.id = hold_id
      where charges.account_id = (select account_id from bench_accounts where position = 0)
      order by charges.created_at desc limit 1`);
  const [subject] = rows;
  if (subject === undefined) throw new Error("There are no charges.");
  return subject;
}

function fillIn(path: string, subject: Subject): string {
  return path.replaceAll(/\$([a-z]+)/g, (_, name: keyof Subject) => subject[name]);
}

async function createKey(database: Database): Promise<string> {
  const acting = { actor: { kind: "command", id: null, name: "bench" }, address: null, requestId: null } as const;
  const parts = { database, clock: systemClock, ids: createIdSource({ clock: systemClock, randomBytes }), randomBytes };
  const request = { name: "bench", access: "read", scopes: [], expiresAt: null, acting } as const;
  return (await createAdminKey(parts, request)).text;
}

type Asked = { gateway: SluiceGateway; headers: Record<string, string> };

async function measurePage(name: string, paths: readonly string[], { gateway, headers }: Asked): Promise<string[]> {
  let slowest = { path: "", ms: 0 };
  for (const path of paths) {
    const tookMs: number[] = [];
    for (let read = 0; read <= pageReads; read += 1) {
      const startedAt = performance.now();
      const answer = await fetch(`http://127.0.0.1:${gateway.port}/admin/v1${path}`, { headers });
      const text = await answer.text();
      // The request of a charge was logged by another part of the bench.
      if (!answer.ok && answer.status !== 404) throw new Error(`${path}: ${answer.status} ${text}`);
      // The first one warms connections up.
      if (read > 0) tookMs.push(performance.now() - startedAt);
    }
    const ms = findMedian(tookMs);
    if (ms > slowest.ms) slowest = { path, ms };
  }
  const verdict = slowest.ms <= pageGoalMsMax ? "met" : "MISSED";
  return [name, slowest.path.slice(0, 50), `${slowest.ms.toFixed(0)} ms`, `≤ ${pageGoalMsMax} ms`, verdict];
}

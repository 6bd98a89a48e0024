// @module-tag extended
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { liveDemoDay } from "../../../scripts/demo/live-demo-day.ts";
import { createPastClock } from "../../../scripts/demo/past-clock.ts";
import { seedDemoAccount } from "../../../scripts/demo/seed-demo-account.ts";
import { readBooks } from "../../../src/features/books/index.ts";
import { sumMargins } from "../../../src/features/costs/index.ts";
import { listDocuments } from "../../../src/features/invoices/index.ts";
import { bookCredit, createLedger, findViolations, type Ledger } from "../../../src/features/ledger/index.ts";
import { nano } from "../../../src/lib/money.ts";
import { toDatabaseAddress } from "../../../src/platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const days = 120;
const until = new Date("2026-11-15T10:00:00Z");

let database: TestDatabase;
let gateway: TestGateway;
let ledger: Ledger;
let key: string;
/** Credit without a payment, as that of a first run. */
let startingId: string;

beforeAll(async () => {
  const clock = createPastClock(new Date(until.getTime() - days * 24 * 60 * 60_000));
  database = await createTestDatabase();
  gateway = await startGateway({ clock, sharedDatabase: database });
  const address = toDatabaseAddress(database.url);
  const onTrouble = (error: unknown): never => {
    throw error;
  };
  ledger = createLedger({ database: gateway.database, address, clock, onTrouble });
  const caller = await gateway.createCaller();
  key = caller.key;
  const credit = { accountId: caller.accountId, actor: "test", reason: "to begin with", reference: null };
  const booking = { kind: "top-up", amount: nano(10_000_000_000n) } as const;
  const { transactionId } = await bookCredit(gateway.parts, { ...credit, booking });
  startingId = transactionId;
  const history = { accountId: caller.accountId, baseUrl: gateway.baseUrl, key, until, days };
  const parts = { ...gateway.parts, clock, ledger, randomBytes };
  await seedDemoAccount(parts, { ...history, callsPerDay: 2 });
});
afterAll(async () => {
  await ledger.close();
  await gateway[Symbol.asyncDispose]();
  await database.close();
});

async function read<T>(path: string): Promise<T> {
  const response = await gateway.get(path, key);
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

test("the ledger check finds no violation in the demo's history", async () => {
  expect(
    await findViolations(gateway.database, { kind: "whole", accountIds: "all", now: gateway.parts.clock.now() }),
  ).toEqual([]);
});

test("its invoices are the payments that were booked, and its statements every other movement, to the last digit", async () => {
  const { database } = gateway;
  const { rows: payments } = await sql<{ count: string; differing: string }>`
    select count(*)::text as count, (count(*) filter (where total_nano is distinct from amount))::text as differing
      from (select * from postings where kind = 'top_up' and id <> ${startingId}) posting
        full join (select * from billing_documents where kind = 'invoice') document on document.payment_id = posting.id`.execute(
    database,
  );
  expect(payments[0]?.differing).toBe("0");
  expect(Number(payments[0]?.count)).toBeGreaterThan(3);
  // Every month that has ended, one after the other: each begins where the one before ended.
  const statements = (await listDocuments(database, { kind: "statement", limit: 20 })).toReversed();
  expect(statements.map(({ month }) => month)).toEqual(["2026-07", "2026-08", "2026-09", "2026-10"]);
  const lines = statements.map(({ content }) => content.lines.map(({ amount }) => BigInt(amount)));
  expect(lines.slice(1).map(([opening]) => opening)).toEqual(statements.slice(0, -1).map(({ total }) => total));
  const { rows } = await sql<{ month: string; moved: string }>`
    select to_char(created_at at time zone 'UTC', 'YYYY-MM') as month,
        sum(case when credit = bucket_id then amount else -amount end)::text as moved
      from postings where unit = 'money' and bucket_id is not null group by 1 order by 1 limit 4`.execute(database);
  expect(statements.map(({ content, total }) => total - BigInt(content.lines[0]?.amount ?? 0))).toEqual(
    rows.map(({ moved }) => BigInt(moved)),
  );
});

test("its books have equal sides on every day, and the revenue of the models is the revenue of the books", async () => {
  const period = { from: new Date("2026-07-01T00:00:00Z"), to: new Date("2026-12-01T00:00:00Z"), accountId: null };
  const days = new Map<string, bigint>();
  const revenue = new Map<string, bigint>();
  for await (const lines of readBooks(gateway.database, period)) {
    for (const { day, account, debit, credit } of lines) {
      days.set(day, (days.get(day) ?? 0n) + debit - credit);
      if (account === "revenue") revenue.set(day, credit);
    }
  }
  expect(days.size).toBeGreaterThan(60);
  expect([...days.values()].filter((difference) => difference !== 0n)).toEqual([]);
  const sold = await sumMargins(gateway.database, { ...period, by: new Set(["day"]), limit: 1000 });
  expect(sold.flatMap(({ day, revenue: sum }) => (sum > 0n ? [[day, sum]] : [])).toSorted()).toEqual(
    [...revenue].toSorted(),
  );
});

test("the statement ends with the current balance", async () => {
  const { data } = await read<{ data: { unit: string; balance: string }[] }>("/ledger?limit=100");
  const balance = await read<{ available_balance: string; frozen_balance: string }>("/balance");
  expect(Number(balance.frozen_balance)).toBe(0);
  expect(Number(data.find(({ unit }) => unit === "money")?.balance)).toBe(Number(balance.available_balance));
});

test("every month has usage, more on workdays than at weekends, and some days have none", async () => {
  const usage = await read<{ data: { from: string; calls: number }[] }>("/usage?from=2026-08-08&to=2026-11-15");
  const months = new Set(usage.data.map(({ from }) => from.slice(0, 7)));
  expect([...months].toSorted()).toEqual(["2026-08", "2026-09", "2026-10", "2026-11"]);
  const isWeekend = ({ from }: { from: string }): boolean => [0, 6].includes(new Date(from).getUTCDay());
  const count = (rows: { calls: number }[]): number => rows.reduce((sum, { calls }) => sum + calls, 0);
  expect(count(usage.data.filter((row) => !isWeekend(row)))).toBeGreaterThan(count(usage.data.filter(isWeekend)));
  expect(usage.data.length).toBeLessThan(days);
});

test("credit was added, granted, expired, refunded and corrected, and a plan pays its share", async () => {
  const kinds = new Set<string>();
  let after = "";
  for (let hasMore = true; hasMore; ) {
    type Page = { data: { id: string; kind: string }[]; has_more: boolean };
    const page: Page = await read<Page>(`/ledger?limit=100${after}`);
    for (const { kind } of page.data) kinds.add(kind);
    after = `&after=${page.data.at(-1)?.id}`;
    hasMore = page.has_more;
  }
  expect([...kinds].toSorted()).toEqual(
    expect.arrayContaining(["adjustment", "charge", "expiry", "grant", "refund", "top_up"]),
  );
  const { plan } = await read<{ plan: { name: string } | null }>("/balance");
  expect(plan?.name).toBe("Studio");
});

test("every team has spent with its own key, on its own models, and each charge can be explained", async () => {
  const usage = await read<{ data: { model: string; key_id: string; calls: number }[] }>(
    "/usage?from=2026-08-08&to=2026-11-16&group_by=model,key",
  );
  const ofTeams = usage.data.filter(({ model }) => model !== "sandbox-image");
  const models = new Set(ofTeams.map(({ model }) => model));
  expect([...models].toSorted()).toEqual(["sandbox-chat", "sandbox-chat-max", "sandbox-chat-pro", "sandbox-embedding"]);
  expect(new Set(ofTeams.map(({ key_id: id }) => id)).size).toBe(4);
  const { data } = await read<{ data: { id: string; charge: string }[] }>("/charges?limit=100");
  const oldest = data.at(-1);
  const explained = await read<{ charge: string; lines: unknown[] }>(`/charges/${oldest?.id}`);
  expect(explained.charge).toBe(oldest?.charge);
});

test("the request log has the calls of the last month with their charges, and some that failed", async () => {
  type Log = { data: { status: number; charge_id: string | null }[] };
  const { data } = await read<Log>("/requests?limit=100&from=2026-10-18&to=2026-11-16");
  expect(data.some(({ status, charge_id: id }) => status === 200 && id !== null)).toBe(true);
  expect(data.some(({ status }) => status >= 400)).toBe(true);
});

type Task = {
  id: string;
  type: string;
  status: string;
  created: number;
  prompt: string | null;
  output: { type: string; file_id: string; url: string }[];
  usage: { estimated_charge: string };
};

const listTasks = async (): Promise<Task[]> => (await read<{ data: Task[] }>("/tasks?limit=100")).data;

test("images were created over months, and some were refused for their content", async () => {
  const tasks = await listTasks();
  const ends = new Set(tasks.map(({ type, status }) => `${type} ${status}`));
  expect([...ends].toSorted()).toEqual(["image failed", "image succeeded"]);
  expect(new Set(tasks.map(({ created }) => new Date(created * 1000).getUTCMonth())).size).toBeGreaterThan(2);
});

describe("today", () => {
  let day: Awaited<ReturnType<typeof liveDemoDay>>;
  let today: Task[];
  beforeAll(async () => {
    day = await liveDemoDay({ baseUrl: gateway.baseUrl, key });
    today = (await listTasks()).filter(({ created }) => created * 1000 >= until.getTime());
  });
  afterAll(() => day.close());

  test("every kind of media is created, one is refused, one is canceled, and one starts after all of them", () => {
    const [last, ...others] = today;
    expect(others.map(({ type, status }) => `${type} ${status}`).toSorted()).toEqual([
      "avatar succeeded",
      ...["drama succeeded", "drama succeeded"],
      "image failed",
      ...["image succeeded", "image succeeded", "image succeeded", "image succeeded"],
      "speech succeeded",
      ...["video canceled", "video succeeded"],
    ]);
    // Its progress depends on the machine; it is a minute of video, paid by the second.
    expect(last).toMatchObject({ type: "video", usage: { estimated_charge: "3.00" } });
  });

  test("the avatar is a video of a face and a voice that were generated before", async () => {
    const avatar = today.find(({ type }) => type === "avatar");
    type Asked = { body: { avatar_file_id: string; audio_file_id: string } };
    const { body } = await read<Asked>(`/tasks/${avatar?.id}/request`);
    const kindOf = async (id: string): Promise<string> =>
      (await read<{ content_type: string }>(`/files/${id}`)).content_type;
    expect(await kindOf(body.avatar_file_id)).toBe("image/png");
    expect(await kindOf(body.audio_file_id)).toBe("audio/mpeg");
    // Links point to the address in the settings.
    const { pathname, search } = new URL(avatar?.output[0]?.url ?? "");
    const file = await fetch(`${gateway.siteUrl}${pathname}${search}`);
    expect(file.headers.get("content-type")).toBe("video/mp4");
    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(0);
  });

  test("an avatar of an image without a face is refused, and costs nothing", async () => {
    const avatar = today.find(({ type }) => type === "avatar");
    const flowers = today.find(({ prompt }) => prompt?.startsWith("A climbing rose"));
    const { body } = await read<{ body: { audio_file_id: string } }>(`/tasks/${avatar?.id}/request`);
    const response = await fetch(`${gateway.baseUrl}/avatars/generations`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", prefer: "wait=60" },
      body: JSON.stringify({
        ...{ model: "sandbox-avatar", aspect_ratio: "1:1" },
        ...{ avatar_file_id: flowers?.output[0]?.file_id, audio_file_id: body.audio_file_id },
      }),
    });
    const { id } = (await response.json()) as Task;
    const refused = await waitUntil("the task has ended", async () => {
      const task = await read<Task>(`/tasks/${id}`);
      return task.status !== "queued" && task.status !== "processing" && task;
    });
    const error = { code: "invalid_file", param: "avatar_file_id", retryable: false };
    expect(refused).toMatchObject({ status: "failed", error, usage: { charge: "0.00", estimated_charge: "0.15" } });
  });

  test("no task shows a word of the sandbox's script, neither in the list nor in its request", async () => {
    for (const task of await listTasks()) {
      const asked = await read(`/tasks/${task.id}/request`);
      expect(JSON.stringify({ task, asked })).not.toContain("[[");
    }
  });

  test("a failed receiver is fixed, was sent the event again, and gets all later ones", async () => {
    type Endpoint = { id: string; description: string };
    type Delivery = { event_id: string; status: string; attempts: { status: number }[] };
    const { data: endpoints } = await read<{ data: Endpoint[] }>("/webhook_endpoints");
    const endpoint = endpoints.find(({ description }) => description.includes("mended"));
    const deliveries = await waitUntil("everything is delivered", async () => {
      const { data } = await read<{ data: Delivery[] }>(`/webhook_endpoints/${endpoint?.id}/deliveries?limit=100`);
      return data.every(({ status }) => status === "succeeded") && data;
    });
    const first = deliveries.at(-1);
    const statuses = deliveries
      .filter(({ event_id: id }) => id === first?.event_id)
      .flatMap(({ attempts }) => attempts.map(({ status }) => status));
    expect(new Set(statuses)).toEqual(new Set([500, 204]));
    // All but the last are over.
    expect(deliveries.length).toBeGreaterThanOrEqual(today.length - 1);
  });

  test("the ledger check finds no violation", async () => {
    const now = gateway.parts.clock.now();
    expect(await findViolations(gateway.database, { kind: "whole", accountIds: "all", now })).toEqual([]);
  });
});

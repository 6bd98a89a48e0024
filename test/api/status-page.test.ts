import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BlockRecord } from "../../src/features/requests/request-block.ts";
import { insertRequests } from "../../src/features/requests/request-store.ts";
import { countTraffic, findIncident, openIncident, sumSlots, updateIncident } from "../../src/features/status/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { writeCatalogOf, writePrice } from "../harness/chat/chat-catalog.ts";
import { type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { type SiteVisitor, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway } from "../harness/test-gateway.ts";
import { canary, findCanary } from "../harness/upstreams/fake-upstreams.ts";
import { waitUntil } from "../harness/wait-until.ts";

const minuteMs = 60_000;
const rememberedMs = 20_000;
const hasModel = (id: string): boolean => ["talk", "inside"].includes(id);

let chat: ChatGateway;
let clock: TestClock;
let everybody: SiteVisitor;
let accountId: AccountId;

beforeAll(async () => {
  clock = createTestClock(new Date("2027-03-10T12:00:00Z"));
  chat = await openChatGateway({ clock, settings: visitorSettings });
  everybody = visitSite(chat.gateway);
  accountId = (await chat.gateway.createCaller()).accountId;
  await chat.applyCatalog(
    writeCatalogOf(chat.upstream, {
      models: [
        { id: "talk", name: "Talk", routes: [{ provider: "open", upstream_model: `${canary}-talk` }] },
        { id: "inside", routes: [{ provider: "open", upstream_model: "inside" }] },
      ],
      prices: [writePrice("talk"), writePrice("inside", { account: accountId })],
    }),
  );
});
afterAll(() => chat[Symbol.asyncDispose]());

type Call = Partial<BlockRecord> & { at: Date };

/** Writes calls as a gateway does. */
async function log(calls: readonly Call[]): Promise<void> {
  const { database } = chat.gateway;
  const records = calls.map(({ at, ...more }): BlockRecord => {
    const ids = createIdSource({ clock: { now: () => at, monotonicMs: () => 0 }, randomBytes });
    return {
      ...{ id: ids.next("req"), createdAt: at, accountId, keyId: "key_test", clientRequestId: null, wire: "chat" },
      ...{ method: "POST", route: "/v1/chat/completions", model: "talk", status: 200, errorCode: null },
      ...{ ending: "answered" as const, durationMs: 1, firstTokenMs: null, inputTokens: null, cachedInputTokens: null },
      ...{ cacheWriteTokens: null, outputTokens: null, reasoningTokens: null, audioInputTokens: null },
      ...{ audioOutputTokens: null, charge: null, chargeId: null, taskId: null, userAgent: null, isReplayed: false },
      ...{ upstream: `${canary}-open`, failedAttempts: [], error: null, isAmendment: false },
      ...more,
    };
  });
  const ids = createIdSource({ clock, randomBytes });
  await insertRequests(database, records, { nextId: () => ids.next("blk") });
}

const repeat = (count: number, call: Call): Call[] => Array.from({ length: count }, () => call);
const failed = { status: 503, ending: "failed" as const, errorCode: "upstream_unavailable" };

async function count(): Promise<void> {
  await countTraffic({ database: chat.gateway.database, clock, hasModel });
}

async function readUptime() {
  clock.advance(rememberedMs);
  const { status, body } = await everybody.get("/uptime");
  expect(status).toBe(200);
  return body;
}

async function readPage(): Promise<string> {
  return await (await fetch(`${chat.gateway.siteUrl}/status`)).text();
}

async function findSlot(kind: "model" | "endpoint" | "upstream", subject: string) {
  const sums = await sumSlots(chat.gateway.database, kind, new Date(0));
  return sums.find((sum) => sum.subject === subject);
}

describe("traffic", () => {
  test("is counted once by model, endpoint and upstream, however often a run repeats", async () => {
    const at = clock.now();
    const attempt = { upstreamModel: "m", keyNumber: 1, durationMs: 1, status: 500, code: null };
    const said = { said: null, upstreamRequestId: null };
    await log([
      ...repeat(30, { at }),
      ...repeat(10, {
        at,
        ...failed,
        failedAttempts: [{ ...attempt, ...said, upstream: `${canary}-open`, kind: "overloaded" }],
      }),
      // Callers' own mistakes and unknown models are no failures.
      { at, status: 400, ending: "refused", upstream: null },
      { at, failedAttempts: [{ ...attempt, ...said, upstream: `${canary}-open`, kind: "rejected" }] },
      { at, model: "made-up", status: 404, ending: "refused", upstream: null },
      { at, status: 501, ending: "failed", model: null, upstream: null },
      // Replaces a call that is counted already.
      { at, isAmendment: true },
    ]);
    await count();
    await count();
    expect(await findSlot("model", "talk")).toEqual({ subject: "talk", calls: 42, failed: 10 });
    expect(await findSlot("model", "made-up")).toBeUndefined();
    expect(await findSlot("endpoint", "chat")).toEqual({ subject: "chat", calls: 44, failed: 10 });
    expect(await findSlot("upstream", `${canary}-open`)).toMatchObject({ calls: 41, failed: 10 });
  });

  test("that is written late in an outage is counted, and the past is not counted again", async () => {
    const { database } = chat.gateway;
    clock.advance(5 * minuteMs);
    await count();
    const begun = clock.now();
    clock.advance(30 * minuteMs);
    // The database is back: the first run comes before the calls of the outage.
    await count();
    await log(repeat(5, { at: new Date(begun.getTime() + 15 * minuteMs), model: "inside" }));
    clock.advance(minuteMs);
    await count();
    expect(await findSlot("model", "inside")).toMatchObject({ calls: 5 });
    clock.advance(minuteMs);
    await count();
    await sql`delete from request_blocks`.execute(database);
    clock.advance(30 * minuteMs);
    await count();
    clock.advance(minuteMs);
    await count();
    expect(await findSlot("model", "inside")).toMatchObject({ calls: 5 });
  });

  test("of a day adds up over midnight and is kept for 100 days", async () => {
    const { database } = chat.gateway;
    await sql`insert into traffic_days (day, kind, subject, calls, failed) values
      ('2026-12-01', 'model', 'talk', 10, 0), ('2026-11-01', 'model', 'talk', 10, 0)`.execute(database);
    await count();
    const days = await sql<{ day: string }>`
      select day from traffic_days where kind = 'model' and subject = 'talk' order by day`.execute(database);
    expect(days.rows.map(({ day }) => day)).toEqual(["2026-12-01", "2027-03-10"]);
  });
});

describe("the status page", () => {
  test("shows shares of what a new account sees, never counts, upstreams or other customers' models", async () => {
    const uptime = await readUptime();
    expect(uptime.models.map(({ id }: { id: string }) => id)).toEqual(["talk"]);
    const [talk] = uptime.models;
    expect(talk.days).toHaveLength(90);
    expect(talk.days.at(-1)).toEqual({ state: "down", uptime: 76.19 });
    expect(talk.days.at(-2)).toEqual({ state: "none", uptime: null });
    // Ten calls a day are too few to judge, and so the day before is shown as that.
    expect(uptime.first_day).toBe("2026-12-11");
    expect(uptime.endpoints.map(({ id }: { id: string }) => id)).toEqual(["chat"]);
    expect(findCanary(JSON.stringify(uptime))).toBeNull();
    expect(JSON.stringify(uptime)).not.toMatch(/inside|"calls"|"failed"/);
  });

  test("is degraded while recent calls fail", async () => {
    await log([...repeat(10, { at: clock.now() }), ...repeat(10, { at: clock.now(), ...failed })]);
    await count();
    expect(await readUptime()).toMatchObject({ state: "degraded", models: [{ id: "talk", state: "degraded" }] });
    clock.advance(30 * minuteMs);
    await count();
    expect(await readUptime()).toMatchObject({ state: "ok", models: [{ id: "talk", state: "ok" }] });
  });

  test("sends its data in the document, in the visitor's encoding, without a script", async () => {
    clock.advance(rememberedMs);
    // A page is sent without data rather than late.
    await waitUntil("the data in the page", async () => (await readPage()).includes("All systems operational"));
    const page = await fetch(`${chat.gateway.siteUrl}/status`, { headers: { "accept-encoding": "br" } });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(page.headers.get("content-encoding")).toBe("br");
    const text = await page.text();
    expect(text).toContain("All systems operational");
    expect(text).toMatch(/Talk<\/h3>.*90 days: 1 down, 89 without calls/);
    expect(text).not.toContain('aria-busy="true"');
    expect(text).toContain("/status/feed.xml");
    expect(findCanary(text)).toBeNull();
    expect(text).not.toContain("inside");
    expect(await (await fetch(`${chat.gateway.siteUrl}/status?from=mail`)).text()).toContain("All systems operational");
  });
});

describe("an incident", () => {
  const first = { title: "Slow <answers>", message: "We are looking & will report.", actor: "ada" };

  test("goes from its opening to its end, on the page and in the feed", async () => {
    const dependencies = { ...chat.gateway.parts, clock, hasModel };
    const opened = await openIncident(dependencies, { ...first, state: "investigating", modelIds: ["talk"] });
    expect(await readUptime()).toMatchObject({
      state: "degraded",
      models: [{ id: "talk", state: "degraded" }],
      incidents: [{ title: "Slow <answers>", models: ["talk"], ended_at: null }],
    });
    clock.advance(minuteMs);
    const update = { message: "Fixed.", actor: "bob" };
    await updateIncident(dependencies, opened.id, { ...update, state: "resolved" });
    const { incidents, state } = await readUptime();
    expect(state).toBe("ok");
    expect(incidents[0].updates.map(({ message }: { message: string }) => message)).toEqual(["Fixed.", first.message]);
    // The names of operators are not public.
    expect(JSON.stringify(incidents)).not.toMatch(/ada|bob/);
    await expect(updateIncident(dependencies, opened.id, { ...update, state: "monitoring" })).rejects.toMatchObject({
      code: "already_ended",
    });
    await waitUntil("the incident in the page", async () => (await readPage()).includes("Slow &lt;answers&gt;"));
    expect(await readPage()).toContain("We are looking &amp; will report.");
    const feed = await fetch(`${chat.gateway.siteUrl}/status/feed.xml`);
    expect(feed.headers.get("content-type")).toBe("application/rss+xml; charset=utf-8");
    const text = await feed.text();
    expect(text).toContain("<title>Slow &lt;answers&gt;: resolved</title>");
    expect(text).toContain("We are looking &amp; will report.");
    expect(text.match(/<item>/g)).toHaveLength(2);
    expect((await findIncident(chat.gateway.database, opened.id))?.updates).toHaveLength(2);
  });

  test("of a model that new accounts don't see is not shown", async () => {
    const dependencies = { ...chat.gateway.parts, clock, hasModel };
    await openIncident(dependencies, { ...first, title: "Hidden", state: "investigating", modelIds: ["inside"] });
    const uptime = await readUptime();
    expect(JSON.stringify(uptime)).not.toContain("Hidden");
    expect(uptime.state).toBe("ok");
  });

  test.each([
    ["title", { title: " " }],
    ["title", { title: "a\nb" }],
    ["message", { message: "" }],
    ["message", { message: "\u0000" }],
    ["models", { modelIds: ["unknown"] }],
  ])("with a wrong %s is rejected", async (param, wrong) => {
    const dependencies = { ...chat.gateway.parts, clock, hasModel };
    const opening = { ...first, state: "investigating" as const, modelIds: [], ...wrong };
    await expect(openIncident(dependencies, opening)).rejects.toMatchObject({ param });
  });
});

test("without a status page its page, data and feed do not exist", async () => {
  await using gateway = await startGateway({ settings: { ...visitorSettings, status_page: "off" } });
  for (const path of ["/status", "/status/feed.xml", "/console/api/uptime"]) {
    expect((await fetch(`${gateway.siteUrl}${path}`)).status).toBe(404);
  }
});

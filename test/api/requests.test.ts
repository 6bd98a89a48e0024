import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countStrayRequests, createRequestLog, rollRequestLog } from "../../src/features/requests/index.ts";
import type { RequestRecord } from "../../src/features/requests/request-record.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createMetrics } from "../../src/platform/observability/metrics.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../harness/chat/chat-gateway.ts";
import { openAnswer, writeQuestion } from "../harness/chat/hear-chat.ts";
import { findLoggedCall } from "../harness/find-logged-call.ts";
import { canary } from "../harness/upstreams/fake-upstreams.ts";
import { createGate, endlessSilence } from "../harness/upstreams/gate.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Fields = Record<string, unknown>;
type Logged = Fields & { id: string };

let chat: ChatGateway;
beforeAll(async () => {
  chat = await openChatGateway();
});
afterAll(() => chat[Symbol.asyncDispose]());

/** Reads the database, because a call to the gateway would be logged as well. */
async function findWritten(id: string | null): Promise<void> {
  await waitUntil(
    `${id} to be logged`,
    async () => {
      return (await findLoggedCall(chat.gateway.database, id)) !== null;
    },
    10_000,
  );
}

/** The log entry of a call, once it is written. */
async function findLogged(caller: Pick<ChatCaller, "key">, id: string | null): Promise<Logged> {
  await findWritten(id);
  const response = await chat.gateway.get(`/requests/${id}`, caller.key);
  expect(response.status).toBe(200);
  return (await response.json()) as Logged;
}

type Page = { data: Logged[]; has_more: boolean; next_cursor: string | null; gaps: Fields[] };

async function list(caller: Pick<ChatCaller, "key">, query: string): Promise<Page> {
  const response = await chat.gateway.get(`/requests${query}`, caller.key);
  expect(response.status).toBe(200);
  return (await response.json()) as Page;
}

async function listCharges(caller: Pick<ChatCaller, "key">): Promise<{ id: string; charge: string }[]> {
  const response = await chat.gateway.get("/charges", caller.key);
  return ((await response.json()) as { data: { id: string; charge: string }[] }).data;
}

async function sendAndFind(caller: ChatCaller, ...sent: Parameters<ChatCaller["post"]>): Promise<Logged> {
  const response = await caller.post(...sent);
  await response.text().catch(() => "");
  return await findLogged(caller, response.headers.get("x-request-id"));
}

test("a background response is logged when it starts, and with its charge when it has ended", async () => {
  const caller = await chat.createCaller();
  const gate = createGate();
  chat.upstream.script({ beforeHead: gate, text: "Done at last", usage });
  const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "open", input: "Take your time", background: true });
  const response = await fetch(`${chat.gateway.baseUrl}/responses`, { method: "POST", headers, body });
  await response.text();
  const id = response.headers.get("x-request-id");
  const begun = { wire: "responses", model: "open", status: 200, ending: "answered" };
  expect(await findLogged(caller, id)).toMatchObject({ ...begun, tokens: null, charge: null, charge_id: null });
  gate.open();
  const ended = await waitUntil("the charge to be logged", async () => {
    const logged = await findLogged(caller, id);
    return logged.charge_id === null ? null : logged;
  });
  const [charge] = await listCharges(caller);
  expect(ended).toMatchObject({ ...begun, tokens: usedTokens, charge: charge?.charge, charge_id: charge?.id });
  expect((await list(caller, "?wire=responses")).data).toHaveLength(1);
});

/** The default fields of every logged chat call. */
function describeChat(caller: ChatCaller, id: string | null): Fields {
  return {
    ...{ object: "request", id, key_id: caller.keyId, wire: "chat", model: "open" },
    ...{ method: "POST", route: "/v1/chat/completions", client_request_id: null, replayed: false, task_id: null },
    has_content: false,
    created: expect.any(Number),
    created_at: expect.stringMatching(/^20\d\d-.*\.\d{3}Z$/),
    latency_ms: expect.any(Number),
    user_agent: expect.any(String),
    ...{ time_to_first_token_ms: null, tokens: null, charge: null, charge_id: null },
    ...{ error_message: null, error_param: null },
  };
}

const usage = { inputTokens: 40, cachedInputTokens: 10, outputTokens: 20, reasoningTokens: 5 };
const usedTokens = {
  ...{ input: 40, cached_input: 10, cache_writes: 0, audio_input: 0 },
  ...{ output: 20, reasoning: 5, audio_output: 0 },
};

test("an answered call is logged with its tokens, its charge and its caller, plain and streamed", async () => {
  const caller = await chat.createCaller();
  chat.upstream.script({ text: "Hi", usage }, { text: "Hi", usage });
  const headers = { "x-client-request-id": "trace-1", "user-agent": `test/1 ${"x".repeat(300)}` };
  const whole = await caller.post(writeQuestion("open"), { headers });
  await whole.text();
  const streamed = await caller.post(writeQuestion("open", { stream: true }));
  await streamed.text();
  const [wholeId, streamedId] = [whole, streamed].map((response) => response.headers.get("x-request-id"));
  const [streamCharge, wholeCharge] = await listCharges(caller);
  const answered = { status: 200, error_code: null, ending: "answered", tokens: usedTokens };
  expect(await findLogged(caller, wholeId ?? null)).toEqual({
    ...describeChat(caller, wholeId ?? null),
    ...answered,
    ...{ client_request_id: "trace-1", user_agent: headers["user-agent"].slice(0, 256) },
    ...{ charge: wholeCharge?.charge, charge_id: wholeCharge?.id },
  });
  expect(await findLogged(caller, streamedId ?? null)).toEqual({
    ...describeChat(caller, streamedId ?? null),
    ...answered,
    time_to_first_token_ms: expect.any(Number),
    ...{ charge: streamCharge?.charge, charge_id: streamCharge?.id },
  });
});

test("a failed call is logged with its status and its error code", async () => {
  const caller = await chat.createCaller();
  const poor = await chat.createCaller({ cash: "0" });
  const slow = await chat.createCaller({ limits: { requestsPerMinute: 1 } });
  await slow.post(writeQuestion("open")).then((response) => response.text());
  const refused = { ending: "refused", charge: null, charge_id: null, tokens: null };
  expect(await sendAndFind(caller, "{")).toMatchObject({
    ...refused,
    ...{ status: 400, error_code: "invalid_json", model: null },
  });
  expect(await sendAndFind(caller, writeQuestion("open", { temperature: "hot" }))).toMatchObject({
    ...refused,
    ...{ status: 400, model: "open" },
  });
  expect(await sendAndFind(caller, writeQuestion("nowhere"))).toMatchObject({
    ...refused,
    ...{ status: 404, model: "nowhere" },
  });
  expect(await sendAndFind(poor, writeQuestion("open"))).toMatchObject({
    ...refused,
    ...{ status: 402, error_code: "insufficient_balance", model: "open" },
  });
  chat.upstream.scriptFor({ model: `${canary}-gemini` }, { status: 500 });
  const failed = await sendAndFind(caller, writeQuestion("google"));
  expect(failed).toMatchObject({ ending: "failed", model: "google", charge: null });
  expect(failed.status).toBeGreaterThanOrEqual(500);
  const limited = await slow.post(writeQuestion("open"));
  await limited.text();
  const limitedId = limited.headers.get("x-request-id");
  await findWritten(limitedId);
  const logged = await findLoggedCall(chat.gateway.database, limitedId);
  expect(logged).toMatchObject({ status: 429, errorCode: "rate_limit_exceeded", ending: "refused" });
});

test("a failed call keeps the error its client got, bounded and without secrets; an answered call stores none", async () => {
  const caller = await chat.createCaller();
  const poor = await chat.createCaller({ cash: "0.000001" });
  const secret = `sk-slc-${"a1B2".repeat(9)}`;
  const sendBad = async (sender: ChatCaller, body: string): Promise<[Logged, Fields]> => {
    const response = await sender.post(body);
    const { error } = (await response.json()) as { error: Fields };
    return [await findLogged(sender, response.headers.get("x-request-id")), error];
  };
  const [typed, typeError] = await sendBad(caller, writeQuestion("open", { temperature: "hot" }));
  expect(typed).toMatchObject({ error_message: typeError.message, error_param: "temperature" });
  const [unpaid, balanceError] = await sendBad(poor, writeQuestion("open"));
  expect(unpaid).toMatchObject({ status: 402, error_message: balanceError.message });
  expect(unpaid.error_message).toMatch(/Add [\d.]+ USD at \S+\/console\/billing to continue\./);
  const [quoting] = await sendBad(caller, writeQuestion("open", { [`\0${secret}${"x".repeat(5000)}`]: 1 }));
  const texts = `${quoting.error_message} ${quoting.error_param}`;
  expect(texts).not.toContain(secret);
  expect(texts.length).toBeLessThan(1300);
  chat.upstream.script({ text: "Hi", usage });
  const answered = await sendAndFind(caller, writeQuestion("open"));
  expect(answered).toMatchObject({ error_message: null, error_param: null });
  const page = await list(caller, "?status=4xx");
  expect(page.data.map(({ error_message: message }) => message)).toContain(typeError.message);
  const csv = await chat.gateway.get("/requests/export?status=4xx", caller.key).then((found) => found.text());
  expect(csv).toContain(",temperature\r\n");
});

test("the console's calls are listed only by their key or their ids", async () => {
  const caller = await chat.createCaller();
  const { log } = openLog({});
  const made = describeRecord(caller, new Date());
  const [own, console] = [made, { ...describeRecord(caller, new Date()), keyId: "key_console" as typeof made.keyId }];
  log.note(own);
  log.note({ ...console, route: "/console/api/chat/completions" });
  await log.close();
  const listIds = async (query: string) => (await list(caller, query)).data.map(({ id }) => id);
  expect(await listIds("?wire=chat")).toEqual([own.id]);
  expect(await listIds("?key_id=key_console")).toEqual([console.id]);
  expect(await listIds(`?ids=${console.id}`)).toEqual([console.id]);
  const summary = await chat.gateway.get("/requests/summary?wire=chat", caller.key).then((found) => found.json());
  expect(summary).toMatchObject({ total: { count: 1 } });
});

test("unknown endpoints and forbidden keys are logged for the key's account; unknown keys for none", async () => {
  const caller = await chat.createCaller();
  const lost = await chat.gateway.get("/nothing", caller.key);
  expect(await findLogged(caller, lost.headers.get("x-request-id"))).toMatchObject({
    ...{ status: 404, error_code: "not_found", wire: null, route: null, model: null },
  });
  const mute = await chat.createCaller({ endpoints: ["usage"] });
  const forbidden = await chat.gateway.get("/models", mute.key);
  expect(await findLogged(mute, forbidden.headers.get("x-request-id"))).toMatchObject({
    ...{ status: 403, error_code: "key_not_permitted", wire: "models", route: "/v1/models" },
  });
  const unknown = await chat.gateway.get("/models", "sk-nobody");
  expect(unknown.status).toBe(401);
  const later = await chat.gateway.get("/models", caller.key);
  await findLogged(caller, later.headers.get("x-request-id"));
  expect(await findLoggedCall(chat.gateway.database, unknown.headers.get("x-request-id"))).toBeNull();
});

test("a call whose caller disconnects is logged with its final cost", async () => {
  const caller = await chat.createCaller();
  chat.upstream.script({ text: "Half", usage, beforeEnd: endlessSilence });
  const answer = await openAnswer(caller, writeQuestion("open", { stream: true }));
  await answer.said("Half");
  answer.hangUp();
  const logged = await findLogged(caller, answer.heard.headers.get("x-request-id"));
  const [charge] = await listCharges(caller);
  expect(logged).toMatchObject({ status: 200, ending: "hung_up", charge_id: charge?.id, charge: charge?.charge });
  expect(logged.tokens).not.toBeNull();
});

test("a response that breaks off is logged as such", async () => {
  const caller = await chat.createCaller();
  chat.upstream.script({ pieces: ["Once", " upon", " a"], cut: { afterPieces: 2 } });
  const logged = await sendAndFind(caller, writeQuestion("open", { stream: true }));
  expect(logged).toMatchObject({ status: 200, ending: "broken_off", error_code: expect.stringMatching(/^upstream_/) });
});

test("a replay of an idempotency key is logged as replayed, at no further cost", async () => {
  const caller = await chat.createCaller();
  const headers = { "idempotency-key": "once" };
  const first = await sendAndFind(caller, writeQuestion("open"), { headers });
  const again = await sendAndFind(caller, writeQuestion("open"), { headers });
  expect([first.replayed, again.replayed]).toEqual([false, true]);
  expect(again).toMatchObject({ status: 200, ending: "answered", model: "open", charge: null, charge_id: null });
});

test("pages, filters, sums and the export contain the same calls", async () => {
  const caller = await chat.createCaller();
  const sent: Logged[] = [];
  for (const model of ["open", "anthropic", "nowhere", "open"]) {
    sent.unshift(
      await sendAndFind(caller, writeQuestion(model), { headers: { "x-client-request-id": `to-${model}` } }),
    );
  }
  const ids = (page: Page): string[] => page.data.map(({ id }) => id);
  const all = sent.map(({ id }) => id);
  const first = await list(caller, "?wire=chat&limit=3");
  expect([ids(first), first.has_more, first.next_cursor, first.gaps]).toEqual([all.slice(0, 3), true, all[2], []]);
  expect(ids(await list(caller, `?wire=chat&after=${first.next_cursor}`))).toEqual(all.slice(3));
  const pick = (fits: (one: Logged) => boolean) => sent.filter(fits).map(({ id }) => id);
  for (const [query, fits] of [
    ["model=open", ({ model }: Logged) => model === "open"],
    ["status=4xx", ({ status }: Logged) => Number(status) >= 400],
    ["status=404", ({ status }: Logged) => status === 404],
    ["status=2xx", ({ status }: Logged) => status === 200],
    ["error_code=model_unavailable", ({ model }: Logged) => model === "nowhere"],
    ["client_request_id=to-anthropic", ({ model }: Logged) => model === "anthropic"],
    [`ids=${all[1]},${all[3]}`, ({ id }: Logged) => id === all[1] || id === all[3]],
    [`key_id=${caller.keyId}`, () => true],
    ["key_id=key_other", () => false],
    [`from=${encodeURIComponent(String(sent[2]?.created_at))}`, ({ id }: Logged) => id >= (all[2] ?? "")],
    ["to=2020-01-01", () => false],
  ] as const) {
    expect([query, ids(await list(caller, `?wire=chat&${query}`))]).toEqual([query, pick(fits)]);
  }
  const summary = await chat.gateway.get("/requests/summary?wire=chat", caller.key).then((found) => found.json());
  expect(summary).toMatchObject({
    ...{ object: "request_summary", partial: false, errors: [{ code: "model_unavailable", count: 1 }] },
    total: { count: 4, "2xx": 3, "4xx": 1, "5xx": 0, hung_up: 0, latency_ms: { p50: expect.any(Number) } },
  });
  const { buckets, total } = summary as { buckets: { count: number }[]; total: { count: number } };
  expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(total.count);
  const csv = await chat.gateway.get("/requests/export?wire=chat", caller.key);
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  const [head, ...lines] = (await csv.text()).trimEnd().split("\r\n");
  expect(head).toMatch(/^id,created_at,client_request_id,key_id,wire,/);
  expect(lines.map((line) => line.slice(0, 30))).toEqual(all);
});

function describeRecord(caller: ChatCaller, createdAt: Date): RequestRecord {
  const at = { ...chat.gateway.parts.clock, now: () => createdAt };
  return {
    ...{ id: createIdSource({ clock: at, randomBytes }).next("req"), createdAt },
    ...{ accountId: caller.accountId, keyId: caller.keyId, clientRequestId: null, wire: "chat", method: "POST" },
    ...{
      route: "/v1/chat/completions",
      model: 'a "model" \\ {of,ours}',
      status: 200,
      errorCode: null,
      ending: "answered",
    },
    ...{ durationMs: 1, firstTokenMs: null, inputTokens: null, cachedInputTokens: null, cacheWriteTokens: null },
    ...{ outputTokens: null, reasoningTokens: null, audioInputTokens: null, audioOutputTokens: null, charge: null },
    ...{ chargeId: null, taskId: null, userAgent: null, isReplayed: false },
  };
}

function openLog(limits: NonNullable<Parameters<typeof createRequestLog>[0]["limits"]>) {
  const metrics = createMetrics();
  const logger = createLogger({ level: "error", format: "json", write: () => {} });
  return { metrics, log: createRequestLog({ ...chat.gateway.parts, metrics, logger, limits }) };
}

test("calls over the log's capacity are counted, and reported to their accounts as a gap", async () => {
  const [caller, other] = [await chat.createCaller(), await chat.createCaller()];
  const { log, metrics } = openLog({ waitingMax: 2 });
  const start = Date.now() - 60_000;
  const records = [0, 1, 2, 3].map((second) => describeRecord(caller, new Date(start + second * 1000)));
  for (const record of records) log.note(record);
  await log.close();
  const page = await list(caller, "?wire=chat");
  expect(page.data.map(({ id, model }) => [id, model])).toEqual(
    [records[1], records[0]].map((record) => [record?.id, record?.model]),
  );
  const moment = (index: number) => records[index]?.createdAt.toISOString();
  expect(page.gaps).toEqual([{ from: moment(2), to: moment(3), lost: 2 }]);
  expect((await list(other, "")).gaps).toEqual([]);
  const counted = metrics.collect().filter((metric) => /request_log_(written|lost)/.test(JSON.stringify(metric)));
  expect(counted.map((metric) => JSON.stringify(metric))).toEqual([
    expect.stringMatching(/\b2\b/),
    expect.stringMatching(/\b2\b/),
  ]);
});

test("one call that cannot be written does not affect the rest of its batch", async () => {
  const caller = await chat.createCaller();
  const { log } = openLog({});
  const [good, bad] = [describeRecord(caller, new Date()), describeRecord(caller, new Date())];
  log.note({ ...bad, model: "half of a \ud800 pair \0" });
  log.note(good);
  await log.close();
  const page = await list(caller, "?wire=chat");
  expect([page.data.map(({ id }) => id), page.gaps.map(({ lost }) => lost)]).toEqual([[good.id], [1]]);
});

// Runs last: it drops calls of other tests too.
test("stray rows move to the partition of their month, and months past retention are dropped", async () => {
  const caller = await chat.createCaller();
  const { database } = chat.gateway;
  // Calls are written in order: those of earlier tests are stored by now, and none follows after its month is dropped.
  const before = await chat.gateway.get("/models", caller.key);
  await before.text();
  await findWritten(before.headers.get("x-request-id"));
  const then = new Date("2031-05-20T12:00:00Z");
  const { log } = openLog({});
  const stray = describeRecord(caller, then);
  log.note(stray);
  await log.close();
  const findPlace = async () => {
    const { rows } = await sql<{ place: string }>`
      select tableoid::regclass::text as place from request_blocks
        where account_id = ${caller.accountId} and created_at = ${then}`.execute(database);
    return rows.map(({ place }) => place);
  };
  expect([await findPlace(), await countStrayRequests(database)]).toEqual([["request_blocks_default"], 1]);
  const rollAt = (now: string) =>
    rollRequestLog({
      database,
      clock: { ...chat.gateway.parts.clock, now: () => new Date(now) },
      keptDays: 30,
      contentDays: 7,
    });
  await rollAt("2031-05-20T13:00:00Z");
  expect([await findPlace(), await countStrayRequests(database)]).toEqual([["request_blocks_203105"], 0]);
  await rollAt("2031-06-30T00:00:00Z");
  expect(await findPlace()).toEqual(["request_blocks_203105"]);
  await rollAt("2031-07-01T00:00:00Z");
  expect(await findPlace()).toEqual([]);
});

// @module-tag extended
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeCatalogOf } from "../../harness/chat/chat-catalog.ts";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { lockWallet } from "../../harness/ledger/lock-wallet.ts";
import { scrapeMetrics } from "../../harness/scrape-metrics.ts";
import { type GatedDatabase, openGatedDatabase } from "../../harness/servers/gated-database.ts";
import { createRunningClock } from "../../harness/test-clock.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/**
 * How long the database is silent, in seconds. The sockets are silent while two writes are attempted; the gateway's
 * clock is set forward by the rest, unless `SILENCE=real` waits for all of it.
 */
const silences = [5, 20, 60];
const isReal = process.env.SILENCE === "real";
const timeoutMs = 180_000;
// The promise is 5 s, and a busy machine needs longer; abandoned holds stay open for minutes.
const endMsMax = 60_000;

const clock = createRunningClock();
let database: GatedDatabase;
let chat: ChatGateway;
let caller: ChatCaller;
beforeAll(async () => {
  database = await openGatedDatabase();
  const settings = { database_url: database.url, metrics_port: 0 };
  chat = await openChatGateway({ clock, sharedDatabase: database.direct, settings });
  caller = await chat.createCaller({ cash: "1000" });
  const models = [{ id: "open", routes: [{ provider: "open", upstream_model: "only" }] }];
  await chat.applyCatalog(writeCatalogOf(chat.upstream, { models }));
});
afterAll(async () => {
  await chat[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

type Ask = { stream: boolean; key: string | null };

function send({ stream, key }: Ask): Promise<Response> {
  const body = { model: "open", stream, messages: [{ role: "user", content: `Hi ${key}` }] };
  return caller.post(body, { headers: key === null ? {} : { "idempotency-key": key } });
}

async function readWhole(answer: Promise<Response>): Promise<{ status: number; isWhole: boolean }> {
  const response = await answer;
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  return { status: response.status, isWhole: isStream ? text.endsWith("data: [DONE]\n\n") : text.includes('"charge"') };
}

async function countFailures(): Promise<number> {
  return (await scrapeMetrics(chat.gateway.metricsPort)).read("sluice_ledger_failed_commits_total") ?? 0;
}

async function keepSilent(seconds: number): Promise<void> {
  const startedMs = performance.now();
  const failures = await countFailures();
  await waitUntil("a try to write", async () => (await countFailures()) > failures, timeoutMs);
  const restMs = seconds * 1000 - (performance.now() - startedMs);
  if (restMs <= 0) return;
  if (isReal) {
    await wait(restMs);
    return;
  }
  clock.advance(restMs);
  const after = await countFailures();
  await waitUntil("another try to write", async () => (await countFailures()) > after, timeoutMs);
}

/** The outcome of a retry: the request must never run a second time. */
async function retry(ask: Ask): Promise<"replayed" | "ran again" | number> {
  const response = await send(ask);
  await response.text();
  if (response.status !== 200) return response.status;
  return response.headers.get("idempotent-replayed") === "true" ? "replayed" : "ran again";
}

test.each(silences)(
  "calls in flight are answered and paid once after a silence of %i s",
  { timeout: timeoutMs },
  async (seconds) => {
    const { gate: line } = database;
    const upstream = chat.upstream.gate();
    chat.upstream.always({ pieces: ["one ", "two ", "three"], beforeHead: upstream });
    const asks: Ask[] = [false, true].flatMap((stream) => [
      { stream, key: null },
      { stream, key: chat.gateway.parts.ids.next("req") },
      { stream, key: chat.gateway.parts.ids.next("req") },
    ]);
    const [requestsBefore, chargesBefore] = [chat.upstream.requests.length, (await caller.listCharges()).length];
    const answers = asks.map((ask) => readWhole(send(ask)));
    const isHeld = async (): Promise<boolean> =>
      (await caller.listHolds()).filter(({ state }) => state === "open").length === asks.length;
    await waitUntil("all holds", isHeld);
    await upstream.reached(asks.length);

    line.silence("all");
    upstream.open();
    await keepSilent(seconds);
    line.speak();
    const returnedMs = performance.now();

    const keyed = asks.filter(({ key }) => key !== null);
    const retries = Promise.all(keyed.map(retry));
    expect(await Promise.all(answers)).toEqual(asks.map(() => ({ status: 200, isWhole: true })));
    await caller.settled();
    const endedMs = performance.now() - returnedMs;
    for (const outcome of await retries) expect(["replayed", 409, 503]).toContain(outcome);
    expect(await Promise.all(keyed.map(retry))).toEqual(keyed.map(() => "replayed"));
    console.log(
      `silence of ${seconds} s${isReal ? "" : " (in part simulated)"}: all ended after ${Math.round(endedMs)} ms`,
    );
    expect(endedMs).toBeLessThan(endMsMax);
    expect(chat.upstream.requests).toHaveLength(requestsBefore + asks.length);
    expect(await caller.listCharges()).toHaveLength(chargesBefore + asks.length);
  },
);

test("a hold that was written while the database fell silent is released soon after its return, and its call was refused in time", {
  timeout: timeoutMs,
}, async () => {
  const { gate: line } = database;
  chat.upstream.always({ text: "Hello" });
  const poor = await chat.createCaller();
  const send = (): Promise<Response> => poor.post({ model: "open", messages: [{ role: "user", content: "Hi" }] });
  expect((await send()).status).toBe(200);
  await poor.settled();
  // The hold is written alone: there is nothing to settle yet.
  const upstream = chat.upstream.gate();
  chat.upstream.always({ text: "Hello", beforeHead: upstream });
  const lock = await lockWallet(chat.gateway.database, poor.accountId);
  const refused = send();
  await lock.awaited();
  line.silence("all");
  // The server commits, but the gateway does not receive the answer.
  await lock.free();
  const countOpen = async (): Promise<number> =>
    (await poor.listHolds()).filter(({ state }) => state === "open").length;
  await waitUntil("the hold to be written", async () => (await poor.listHolds()).length === 2);
  expect((await refused).status).toBe(503);
  upstream.open();
  line.speak();
  const returnedMs = performance.now();
  await waitUntil("the release", async () => (await countOpen()) === 0, endMsMax);
  console.log(`a hold in doubt: released after ${Math.round(performance.now() - returnedMs)} ms`);
  expect((await poor.listHolds()).map(({ state }) => state).toSorted()).toEqual(["released", "settled"]);
  expect(await poor.listCharges()).toHaveLength(1);
});

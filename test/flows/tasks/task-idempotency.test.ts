import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "../../../src/features/accounts/index.ts";
import { claimKey } from "../../../src/features/idempotency/index.ts";
import { openHolds } from "../../../src/features/ledger/index.ts";
import { nano } from "../../../src/lib/money.ts";
import { writeTaskPrice } from "../../harness/tasks/task-catalog.ts";
import {
  noTraces,
  openTaskStage,
  paths,
  readProblem,
  readTask,
  type StageCaller,
  type TaskStage,
  writePictures,
  writeStageCatalog,
} from "../../harness/tasks/task-stage.ts";
import type { FakeUpstreams } from "../../harness/upstreams/fake-upstreams.ts";
import { createGate } from "../../harness/upstreams/gate.ts";

let stage: TaskStage;

function writeCatalog(upstream: FakeUpstreams): string {
  return writeStageCatalog(upstream, {
    models: [writePictures("fleeting", ["fal"])],
    prices: [writeTaskPrice("fleeting", "image", "0.04")],
  });
}

beforeAll(async () => {
  stage = await openTaskStage({ catalog: writeCatalog });
});
afterEach(async () => {
  await stage.handedOver();
  expect(stage.media.scriptsLeft()).toBe(0);
  await stage.check();
});
afterAll(() => stage[Symbol.asyncDispose]());

const image = { model: "image", prompt: "A lighthouse" };

function keyed(key: string, more: Record<string, string> = {}) {
  return { headers: { "idempotency-key": key, ...more } };
}

async function send(caller: StageCaller, key: string, body: object = image) {
  const response = await caller.post(paths.image, body, keyed(key));
  const isReplay = response.headers.get("idempotent-replayed") === "true";
  return { response, isReplay, status: response.status, task: await readTask(response) };
}

describe("one key", () => {
  test("sent a hundred times at once is one task, one hold and one upstream job", async () => {
    const caller = await stage.createCaller();
    const body = { ...image, prompt: "Only once" };
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(caller, "hundred", body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ task }) => task.id)).size).toBe(1);
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    const task = await caller.awaitTask(answers[0]?.task.id ?? "");
    expect(task.status).toBe("succeeded");
    expect(await caller.countTraces()).toEqual({ tasks: 1, holds: 1, events: 1, keys: 1 });
    expect(stage.media.submissionsOf("Only once")).toHaveLength(1);
    expect(await caller.listCharges()).toHaveLength(1);
  });

  test("is answered 202 with the current state of the task, and its location", async () => {
    const caller = await stage.createCaller();
    const finish = createGate();
    stage.media.script({ beforeFinish: finish });
    const first = await send(caller, "again");
    expect(first).toMatchObject({ status: 202, isReplay: false });
    await caller.awaitTask(first.task.id, ["processing"]);
    expect(await send(caller, "again")).toMatchObject({ status: 202, isReplay: true, task: { status: "processing" } });
    finish.open();
    const ended = await caller.awaitTask(first.task.id);
    const last = await send(caller, "again");
    expect(last).toMatchObject({ status: 202, isReplay: true });
    // Links are signed when a task is read.
    const leaveLinks = (key: string, value: unknown) => (key === "url" ? undefined : value);
    const [replayed, seen] = [last.task, ended].map((task) => JSON.parse(JSON.stringify(task, leaveLinks)));
    expect(replayed).toEqual(seen);
    expect(last.response.headers.get("location")).toContain(ended.id);
    expect(last.task.request_id).toBe(first.task.request_id);
    expect(last.response.headers.get("x-request-id")).not.toBe(first.task.request_id);
  });

  test("is answered although the model left the catalog, or the money is gone", async () => {
    const caller = await stage.createCaller({ cash: "0.04" });
    const first = await send(caller, "gone", { ...image, model: "fleeting" });
    expect(await send(caller, "gone", { ...image, model: "fleeting" })).toMatchObject({ status: 202, isReplay: true });
    await stage.applyCatalog(writeStageCatalog(stage.upstream));
    const again = await send(caller, "gone", { ...image, model: "fleeting" });
    expect(again).toMatchObject({ status: 202, isReplay: true, task: { id: first.task.id } });
    expect((await send(caller, "other", { ...image, model: "fleeting" })).status).toBe(404);
    await stage.applyCatalog(writeCatalog(stage.upstream));
  });

  test("with another body, or at another endpoint, is refused with 422", async () => {
    const caller = await stage.createCaller();
    await send(caller, "taken");
    const reused = { status: 422, code: "idempotency_key_reused", param: "Idempotency-Key" };
    const other = await caller.post(paths.image, { ...image, n: 2 }, keyed("taken"));
    expect(await readProblem(other)).toMatchObject(reused);
    const elsewhere = await caller.post(paths.video, { model: "video", prompt: "A lighthouse" }, keyed("taken"));
    expect(await readProblem(elsewhere)).toMatchObject(reused);
    const speech = await caller.post(paths.speech, { model: "speech", input: "A", voice: "alloy" }, keyed("taken"));
    expect(await readProblem(speech)).toMatchObject(reused);
    expect((await caller.countTraces()).tasks).toBe(1);
  });

  test("belongs to the account: another account's is independent, another API key of the same account finds it", async () => {
    const caller = await stage.createCaller();
    const other = await stage.createCaller();
    const mine = await send(caller, "shared");
    const theirs = await send(other, "shared");
    expect(theirs).toMatchObject({ status: 202, isReplay: false });
    expect(theirs.task.id).not.toBe(mine.task.id);
    const { text } = await createApiKey(
      { ...stage.gateway.parts, randomBytes },
      { accountId: caller.accountId, name: "rotated" },
    );
    const rotated = await caller.post(paths.image, image, keyed("shared", { authorization: `Bearer ${text}` }));
    expect((await readTask(rotated)).id).toBe(mine.task.id);
  });

  test("is free again after a refusal, and the retry runs", async () => {
    const caller = await stage.createCaller({ cash: "0.05" });
    expect((await send(caller, "free", { ...image, n: 0 })).status).toBe(400);
    expect((await send(caller, "free", { ...image, n: 4 })).status).toBe(402);
    expect((await send(caller, "free", { ...image, model: "nobody" })).status).toBe(404);
    expect(await caller.countTraces()).toEqual(noTraces);
    expect(await send(caller, "free")).toMatchObject({ status: 202, isReplay: false });
  });

  test("among many at once: unpaid submissions leave no key, the others are created", async () => {
    const caller = await stage.createCaller({ cash: "0.12" });
    const keys = Array.from({ length: 10 }, (_, index) => `many-${index}`);
    const answers = await Promise.all(keys.map((key) => send(caller, key)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(3).fill(202), ...Array(7).fill(402)]);
    expect(await caller.countTraces()).toMatchObject({ tasks: 3, holds: 3, keys: 3 });
  });

  test("is kept for the configured time, and is then a new one", async () => {
    const caller = await stage.createCaller();
    const first = await send(caller, "old");
    await expireKeys(caller);
    const second = await send(caller, "old");
    expect(second).toMatchObject({ status: 202, isReplay: false });
    expect(second.task.id).not.toBe(first.task.id);
    await caller.awaitTask(first.task.id);
    const { rows } = await sql<{ hours: number }>`
      select extract(epoch from expires_at - now()) / 3600 as hours from idempotency_keys
        where account_id = ${caller.accountId}`.execute(stage.database);
    expect(Math.round(Number(rows[0]?.hours))).toBe(24);
  });

  test("that was left by a chat call of a dead process is taken over, and its hold released", async () => {
    const caller = await stage.createCaller();
    await claimForChat(caller, "dead", -1);
    expect(await caller.readBalance()).toEqual({ available: "9.00", frozen: "1.00" });
    const { task } = await send(caller, "dead");
    expect(await caller.awaitTask(task.id)).toMatchObject({ status: "succeeded" });
    expect((await caller.listHolds()).map(({ state }) => state)).toEqual(["released", "settled"]);
    expect(await send(caller, "dead")).toMatchObject({ isReplay: true, task: { id: task.id } });
  });

  test("that belongs to a running call stays with that call", async () => {
    const caller = await stage.createCaller();
    await claimForChat(caller, "alive", 60);
    const response = await caller.post(paths.image, image, keyed("alive"));
    expect(await readProblem(response)).toMatchObject({ status: 422, code: "idempotency_key_reused" });
    expect(await caller.countTraces()).toMatchObject({ tasks: 0, holds: 1 });
  });

  test.each([
    ["empty", ""],
    ["a space", " "],
    ["with a space", "a b"],
    ["not ASCII", "ü"],
    ["too long", "x".repeat(256)],
  ])("that is invalid is refused: %s", async (_what, key) => {
    const caller = await stage.createCaller();
    const response = await caller.post(paths.image, image, { headers: { "idempotency-key": encodeHeader(key) } });
    expect(await readProblem(response)).toMatchObject({ status: 400, param: "Idempotency-Key" });
    expect(await caller.countTraces()).toEqual(noTraces);
  });

  test("waits with the first request: a replay may also ask to wait", async () => {
    const caller = await stage.createCaller();
    const headers = { prefer: "wait=30" };
    const first = await caller.post(paths.image, image, keyed("waits", headers));
    const second = await caller.post(paths.image, image, keyed("waits", headers));
    expect([first.status, second.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect((await readTask(second)).id).toBe((await readTask(first)).id);
  });
});

function encodeHeader(text: string): string {
  return Buffer.from(text).toString("latin1");
}

async function expireKeys({ accountId }: StageCaller): Promise<void> {
  await sql`update idempotency_keys set expires_at = now() - interval '1 second'
    where account_id = ${accountId}`.execute(stage.database);
}

/** A claim as a chat call writes it, with money on hold; its lease ends in this many seconds. */
async function claimForChat({ accountId }: StageCaller, key: string, seconds: number): Promise<void> {
  const { database, parts } = stage.gateway;
  const holdId = parts.ids.next("hold");
  const expiresAt = new Date(Date.now() + 60 * 60 * 1000);
  const cause = { kind: "request", id: "req_chat" } as const;
  const hold = { id: holdId, accountId, amount: nano(1_000_000_000n), quota: null, budget: null, cause, expiresAt };
  await database.transaction().execute((tx) => openHolds(tx, [hold], new Date()));
  const claim = { accountId, key, requestId: "req_chat", fingerprint: randomBytes(32), holdId };
  await claimKey({ database, clock: parts.clock, validityMs: 60_000, releaseHold: async () => {} }, claim);
  await sql`update idempotency_keys set lease_until = now() + ${`${seconds} seconds`}::interval
    where account_id = ${accountId} and key = ${key}`.execute(database);
}

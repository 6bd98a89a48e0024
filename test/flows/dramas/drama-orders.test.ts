import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { writeTransition } from "../../../src/features/tasks/machine/apply-transition.ts";
import { decideTransition } from "../../../src/features/tasks/machine/decide-transition.ts";
import { lockTask } from "../../../src/features/tasks/task-store.ts";
import { parseMoney } from "../../../src/lib/money.ts";
import { createMetrics } from "../../../src/platform/observability/metrics.ts";
import {
  type DramaCaller,
  type DramaFront,
  dramaPath,
  openDramaFront,
  type SeenDrama,
  usualDrama,
} from "../../harness/dramas/drama-callers.ts";
import { sampleScript } from "../../harness/dramas/drama-samples.ts";
import { readProblem } from "../../harness/tasks/task-stage.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { makePicture } from "../../harness/upstreams/media-samples.ts";

let front: DramaFront;

/** The tests end the tasks, unless they start a worker. */
beforeAll(async () => {
  front = await openDramaFront({ settings: { roles: ["http"] } });
});
afterEach(() => front.check());
afterAll(() => front[Symbol.asyncDispose]());

type Sent = { status: number; isReplay: boolean; task: SeenDrama };

async function send(
  caller: DramaCaller,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Sent> {
  return readSent(await caller.ask({ client_business_id: "order-1", ...more }, headers));
}

async function readSent(response: Response): Promise<Sent> {
  const isReplay = response.headers.get("idempotent-replayed") === "true";
  return { status: response.status, isReplay, task: (await response.json()) as SeenDrama };
}

/** A task fails or expires. */
async function end(id: string, state: "failed" | "expired"): Promise<void> {
  const { database, clock, ids } = front.gateway.parts;
  const logger = { warn: () => {}, error: () => {} } as never;
  const dependencies = {
    ...{ database, clock, ids, logger },
    watch: { announce: () => {} },
    endings: { run: <T>(work: () => Promise<T>) => work() },
    metrics: createMetrics(),
    wakeWorkers: () => {},
    failpoint: () => {},
  };
  const error = { code: "upstream_unavailable", message: "It broke.", param: null, isRetryable: true } as const;
  const ending = state === "failed" ? { state, error } : { state };
  const written = await database.transaction().execute(async (tx) => {
    const task = await lockTask(tx, id);
    if (task === null) throw new Error(`${id} is over already.`);
    const transition = decideTransition(task, { kind: "concluded", end: ending }, clock.now());
    return await writeTransition(dependencies, tx, task, transition);
  });
  expect(written.task.state).toBe(state);
}

describe("the same request with the same client_business_id", () => {
  test("is the same task, 202 and marked as a replay, in any field order", async () => {
    const caller = await front.createCaller();
    const first = await send(caller, { metadata: { a: "1", b: "2" } });
    expect(first).toMatchObject({ status: 202, isReplay: false });
    const same = { metadata: { b: "2", a: "1" }, client_business_id: "order-1", ...usualDrama };
    const again = await caller.post(dramaPath, Object.fromEntries(Object.entries(same).toReversed()));
    expect(again.headers.get("location")).toContain(first.task.id);
    expect(await readSent(again)).toMatchObject({ status: 202, isReplay: true, task: { id: first.task.id } });
    expect(await caller.countTraces()).toMatchObject({ tasks: 1, holds: 1 });
    expect(await caller.countOrders()).toBe(1);
  });

  test("is the same task with another Idempotency-Key, which stays unused", async () => {
    const caller = await front.createCaller();
    const first = await send(caller, {}, { "idempotency-key": "key-1" });
    const again = await send(caller, {}, { "idempotency-key": "key-2" });
    expect(again).toMatchObject({ status: 202, isReplay: true, task: { id: first.task.id } });
    expect((await caller.countTraces()).keys).toBe(1);
    const other = await send(caller, { client_business_id: "order-2" }, { "idempotency-key": "key-2" });
    expect(other).toMatchObject({ status: 202, isReplay: false });
  });

  test("returns the current state of the task", async () => {
    const caller = await front.createCaller();
    const first = await send(caller);
    await using worker = await front.startAnother({ roles: ["http", "worker"] });
    expect(worker.port).toBeGreaterThan(0);
    await caller.awaitTask(first.task.id, ["succeeded"]);
    const last = await send(caller);
    expect(last).toMatchObject({ status: 202, isReplay: true, task: { id: first.task.id, status: "succeeded" } });
    expect(last.task.output).toHaveLength(1);
    expect(await caller.countTraces()).toMatchObject({ tasks: 1, holds: 1, events: 1 });
    expect(await caller.listCharges()).toHaveLength(1);
  });

  test("is answered without money, and without room for another task", async () => {
    const caller = await front.createCaller({ cash: "0.02", limits: { tasksInFlight: 1 } });
    const first = await send(caller);
    expect(await send(caller)).toMatchObject({ status: 202, isReplay: true, task: { id: first.task.id } });
    expect((await send(caller, { client_business_id: "order-2" })).status).toBe(429);
  });

  test("is answered without expiry: after its key is deleted, its image is gone, and no webhook is left", async () => {
    const clock = createTestClock(new Date());
    await using later = await openDramaFront({ clock, settings: { roles: ["http"] } });
    const caller = await later.createCaller({ isHeard: false });
    const endpoint = await caller.post("/webhook_endpoints", { url: "http://127.0.0.1:9/hook" });
    const { id } = (await endpoint.json()) as { id: string };
    const face = await caller.upload((await makePicture({ width: 64, height: 64 }, 1)).bytes);
    const body = { characters: [{ name: "Anna", reference_file_id: face }] };
    const first = await send(caller, body, { "idempotency-key": "key-1" });
    await using worker = await later.startAnother({ roles: ["http", "worker"] });
    expect(worker.port).toBeGreaterThan(0);
    await caller.awaitTask(first.task.id, ["succeeded"]);
    clock.advance(25 * 60 * 60 * 1000);
    expect(await send(caller, body)).toMatchObject({ status: 202, isReplay: true, task: { id: first.task.id } });
    clock.advance(60 * 24 * 60 * 60 * 1000);
    const headers = { authorization: `Bearer ${caller.key}` };
    await later.fetch(`${later.gateway.baseUrl}/webhook_endpoints/${id}`, { method: "DELETE", headers });
    expect(await send(caller, body)).toMatchObject({ status: 202, isReplay: true, task: { id: first.task.id } });
    const other = await send(caller, { ...body, client_business_id: "order-2" });
    expect(other.status).toBe(400);
    expect((await caller.countTraces()).tasks).toBe(1);
  });
});

describe("a client_business_id with a different request is refused or new:", () => {
  test("another body is 422, which names the task and the field, and changes nothing", async () => {
    const caller = await front.createCaller();
    const first = await send(caller);
    for (const more of [{ title: "Another" }, { metadata: { a: "1" } }, { episode: 1 }, { model: "scripts-only" }]) {
      const problem = await readProblem(await caller.ask({ client_business_id: "order-1", ...more }));
      expect(problem).toMatchObject({ status: 422, code: "idempotency_key_reused", param: "client_business_id" });
      expect(problem.message).toContain(first.task.id);
    }
    expect(await caller.countTraces()).toMatchObject({ tasks: 1, holds: 1 });
    expect(await send(caller)).toMatchObject({ isReplay: true, task: { id: first.task.id } });
  });

  test("another stage, another episode and another account are independent", async () => {
    const caller = await front.createCaller();
    const other = await front.createCaller();
    const sent = [
      await send(caller),
      await send(caller, { stage: "roles" }),
      await send(caller, { episode: 2 }),
      await send(caller, { episode: 2, stage: "roles" }),
      // Its episode is the third, as in the document.
      await send(caller, { stage: "roles", script: sampleScript }),
      await send(other),
      await send(caller, { client_business_id: "ORDER-1" }),
    ];
    expect(sent.map(({ status, isReplay }) => [status, isReplay])).toEqual(sent.map(() => [202, false]));
    expect(new Set(sent.map(({ task }) => task.id)).size).toBe(sent.length);
    expect(await caller.countOrders()).toBe(6);
    expect(await send(caller, { episode: 2 })).toMatchObject({ isReplay: true, task: { id: sent[2]?.task.id } });
    expect((await caller.ask({ client_business_id: "order-1", stage: "roles", episode: 3 })).status).toBe(422);
  });
});

describe("after a task without a result", () => {
  test.each(["failed", "canceled", "expired"] as const)(
    "because it %s, the same or another request runs, and is stored from then on",
    async (state) => {
      const caller = await front.createCaller();
      const first = await send(caller);
      if (state === "canceled") await caller.cancel(first.task.id);
      else await end(first.task.id, state);
      const second = await send(caller, { title: "Another" });
      expect(second).toMatchObject({ status: 202, isReplay: false });
      expect(second.task.id).not.toBe(first.task.id);
      expect(await send(caller, { title: "Another" })).toMatchObject({ isReplay: true, task: { id: second.task.id } });
      const problem = await readProblem(await caller.ask({ client_business_id: "order-1" }));
      expect(problem).toMatchObject({ status: 422, code: "idempotency_key_reused" });
      expect(problem.message).toContain(second.task.id);
      expect(await caller.countOrders()).toBe(1);
      await caller.cancel(second.task.id);
      expect(await send(caller)).toMatchObject({ status: 202, isReplay: false });
    },
  );

  test("a submission that cannot be paid is not stored, and one that can be runs", async () => {
    const caller = await front.createCaller({ cash: "0.02" });
    const first = await send(caller);
    await caller.cancel(first.task.id);
    expect((await send(caller, { stage: "script", model: "sandbox-drama" })).status).toBe(202);
    const poor = await front.createCaller({ cash: "0.03" });
    const big = await send(poor, { stage: "roles" });
    await poor.cancel(big.task.id);
    await poor.order();
    expect((await send(poor, { stage: "roles" })).status).toBe(402);
    expect((await poor.countTraces()).tasks).toBe(2);
    await pay(poor, "1");
    expect(await send(poor, { stage: "roles" })).toMatchObject({ status: 202, isReplay: false });
  });

  test("the task itself is unchanged", async () => {
    const caller = await front.createCaller();
    const first = await send(caller);
    await caller.cancel(first.task.id);
    await send(caller);
    expect(await caller.readTask(first.task.id)).toMatchObject({ status: "canceled" });
  });
});

async function pay({ accountId }: DramaCaller, text: string): Promise<void> {
  const booking = { kind: "top-up", amount: parseMoney(text) ?? 0n } as never;
  await bookCredit(front.gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
}

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { bookCredit } from "../../../src/features/ledger/index.ts";
import { parseMoney } from "../../../src/lib/money.ts";
import {
  type DramaCaller,
  type DramaFront,
  dramaPath,
  openDramaFront,
  type SeenDrama,
  usualDrama,
} from "../../harness/dramas/drama-callers.ts";
import { noTraces } from "../../harness/tasks/task-stage.ts";
import type { TestGateway } from "../../harness/test-gateway.ts";

/** Sends a hundred at once, to two gateways over one database. */
let front: DramaFront;
let another: TestGateway;

beforeAll(async () => {
  front = await openDramaFront({ settings: { roles: ["http"] } });
  another = await front.startAnother();
});
afterEach(() => front.check());
afterAll(async () => {
  await another[Symbol.asyncDispose]();
  await front[Symbol.asyncDispose]();
});

type Sent = { status: number; isReplay: boolean; task: SeenDrama };

async function readSent(response: Response): Promise<Sent> {
  const isReplay = response.headers.get("idempotent-replayed") === "true";
  return { status: response.status, isReplay, task: (await response.json()) as SeenDrama };
}

async function sendHundred(caller: DramaCaller, more: (index: number) => Record<string, unknown>): Promise<Sent[]> {
  const sending = Array.from({ length: 100 }, async (_, index) => {
    const body = { ...usualDrama, client_business_id: "order-1", ...more(index) };
    const gateway = index % 2 === 0 ? front.gateway : another;
    return readSent(await caller.post(dramaPath, body, { gateway }));
  });
  return await Promise.all(sending);
}

test("a hundred of the same request are one task, one hold, one charge and one event", async () => {
  const caller = await front.createCaller();
  const sent = await sendHundred(caller, () => ({}));
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(sent.map(({ task }) => task.id)).size).toBe(1);
  expect(sent.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
  expect(await caller.countTraces()).toEqual({ tasks: 1, holds: 1, events: 0, keys: 0 });
  await using worker = await front.startAnother({ roles: ["http", "worker"] });
  expect(worker.port).toBeGreaterThan(0);
  await caller.awaitTask(sent[0]?.task.id ?? "", ["succeeded"]);
  expect(await caller.countTraces()).toEqual({ tasks: 1, holds: 1, events: 1, keys: 0 });
  expect(await caller.readBalance()).toEqual({ available: "9.98", frozen: "0.00" });
});

test("a hundred of two different requests are one task; the others get its id", async () => {
  const caller = await front.createCaller();
  const sent = await sendHundred(caller, (index) => (index % 3 === 0 ? {} : { title: "Another" }));
  const made = sent.filter(({ status }) => status === 202);
  const refused = sent.filter(({ status }) => status === 422);
  expect(made.length + refused.length).toBe(100);
  expect(made.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
  expect([33, 34, 66, 67]).toContain(made.length);
  expect(new Set(made.map(({ task }) => task.id)).size).toBe(1);
  for (const { task } of refused) {
    const { error } = task as unknown as { error: { message: string; param: string } };
    expect(error.param).toBe("client_business_id");
    expect(error.message).toContain(made[0]?.task.id);
  }
  expect(await caller.countTraces()).toMatchObject({ tasks: 1, holds: 1 });
});

test("a hundred, each with its own key, are one task and one key", async () => {
  const caller = await front.createCaller();
  const body = { ...usualDrama, client_business_id: "order-1" };
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      caller.post(dramaPath, body, {
        gateway: index % 2 === 0 ? front.gateway : another,
        headers: { "idempotency-key": `key-${index}` },
      }),
    ),
  );
  const sent = await Promise.all(answers.map(readSent));
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]));
  expect(new Set(sent.map(({ task }) => task.id)).size).toBe(1);
  expect(await caller.countTraces()).toEqual({ tasks: 1, holds: 1, events: 0, keys: 1 });
});

test("a hundred after a canceled one are one new task", async () => {
  const caller = await front.createCaller();
  const first = await caller.order({ client_business_id: "order-1" });
  await caller.cancel(first.id);
  const sent = await sendHundred(caller, () => ({}));
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]));
  const ids = new Set(sent.map(({ task }) => task.id));
  expect(ids.size).toBe(1);
  expect(ids.has(first.id)).toBe(false);
  expect((await caller.countTraces()).tasks).toBe(2);
});

test("a hundred without enough balance are all refused with 402 and nothing is stored; with money, one runs", async () => {
  const caller = await front.createCaller({ cash: "0.01" });
  const sent = await sendHundred(caller, () => ({}));
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([402]));
  expect(await caller.countTraces()).toEqual(noTraces);
  expect(await caller.countOrders()).toBe(0);
  await pay(caller, "1");
  const later = await readSent(await caller.ask({ client_business_id: "order-1" }));
  expect(later).toMatchObject({ status: 202, isReplay: false });
});

async function pay({ accountId }: DramaCaller, text: string): Promise<void> {
  const booking = { kind: "top-up", amount: parseMoney(text) ?? 0n } as never;
  await bookCredit(front.gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
}

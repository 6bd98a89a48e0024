import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  claimOrders,
  findOrder,
  findSameOrder,
  type OwnedOrder,
  withdrawOrders,
} from "../../../src/features/tasks/submit/order-store.ts";
import { createSubmissionWriter, type Submission } from "../../../src/features/tasks/submit/write-submissions.ts";
import type { NewTask, StagedTerms } from "../../../src/features/tasks/task.ts";
import type { TaskId } from "../../../src/lib/ids.ts";
import { standardLimits } from "../../../src/lib/limit-set.ts";
import { nano } from "../../../src/lib/money.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { type DramaCaller, type DramaFront, openDramaFront } from "../../harness/dramas/drama-callers.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let front: DramaFront;
let caller: DramaCaller;
/** More than one connection, for transactions that wait for each other. */
let database: Database;

let shared: TestDatabase;

beforeAll(async () => {
  shared = await createTestDatabase();
  front = await openDramaFront({ sharedDatabase: shared, settings: { roles: ["http"] } });
  caller = await front.createCaller();
  const address = { connectionString: shared.url };
  database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
});
afterAll(async () => {
  await database.destroy();
  await front[Symbol.asyncDispose]();
  await shared.close();
});

/** An order for a task, with its own id unless given. */
function orderOf(taskId: string, more: Partial<OwnedOrder> = {}): OwnedOrder {
  const names = { clientBusinessId: `order-${randomBytes(6).toString("hex")}`, scope: "video 1" };
  const fingerprint = Buffer.from("one request");
  return { accountId: caller.accountId, taskId: taskId as TaskId, fingerprint, ...names, ...more };
}

const newId = (): TaskId => front.gateway.parts.ids.next("task");

describe("an order", () => {
  test("is claimed once, and found again unchanged", async () => {
    const order = orderOf(newId());
    expect(await claimOrders(database, [order])).toEqual(new Set([order.taskId]));
    expect(await claimOrders(database, [{ ...order, taskId: newId() }])).toEqual(new Set());
    expect(await findOrder(database, order)).toEqual({ taskId: order.taskId, fingerprint: order.fingerprint });
    expect(await findSameOrder(database, order)).toBe(order.taskId);
  });

  test("is independent in another scope, under another id, and of another account", async () => {
    const other = await front.createCaller();
    const order = orderOf(newId());
    const others = [
      orderOf(newId(), { ...order, taskId: newId(), scope: "video 2" }),
      orderOf(newId(), { ...order, taskId: newId(), clientBusinessId: `${order.clientBusinessId} ` }),
      orderOf(newId(), { ...order, taskId: newId(), accountId: other.accountId }),
    ];
    expect((await claimOrders(database, [order, ...others])).size).toBe(4);
    for (const each of others) expect((await findOrder(database, each))?.taskId).toBe(each.taskId);
    expect(await findOrder(database, { ...order, scope: "roles 1" })).toBeNull();
    expect(await findSameOrder(database, { ...order, fingerprint: Buffer.from("another") })).toBeNull();
  });

  test.each([
    ["queued", false],
    ["canceled", true],
  ] as const)("whose task is %s can be claimed again: %s", async (state, isFree) => {
    const { id } = await caller.order();
    if (state === "canceled") await caller.cancel(id);
    const order = orderOf(id);
    await claimOrders(database, [order]);
    const next = { ...order, taskId: newId(), fingerprint: Buffer.from("another") };
    expect((await claimOrders(database, [next])).has(next.taskId)).toBe(isFree);
    expect((await findOrder(database, order))?.taskId).toBe(isFree ? next.taskId : id);
  });

  test("that is released is free, and others are not", async () => {
    const [one, two] = [orderOf(newId()), orderOf(newId())];
    await claimOrders(database, [one, two]);
    await withdrawOrders(database, [one]);
    await withdrawOrders(database, []);
    expect(await findOrder(database, one)).toBeNull();
    expect(await findOrder(database, two)).not.toBeNull();
  });
});

describe("of two transactions that claim the same order at once", () => {
  /** A transaction that has claimed an order and is still open. */
  async function takeAndWait(order: OwnedOrder) {
    const taken = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<"keep" | "drop">();
    const work = database
      .transaction()
      .execute(async (tx) => {
        await claimOrders(tx, [order]);
        taken.resolve();
        if ((await decided.promise) === "drop") throw new Error("dropped");
      })
      .catch(() => {});
    await taken.promise;
    return async (decision: "keep" | "drop"): Promise<void> => {
      decided.resolve(decision);
      await work;
    };
  }

  test.each([
    ["keep", false],
    ["drop", true],
  ] as const)(
    "the second waits for the first; when that one decides to %s it, the second has it: %s",
    async (decision, has) => {
      const order = orderOf(newId());
      const decide = await takeAndWait(order);
      const second = { ...order, taskId: newId() };
      const asking = claimOrders(database, [second]);
      await awaitLock();
      await decide(decision);
      expect((await asking).has(second.taskId)).toBe(has);
    },
  );

  test("both claim many, in any order, without a deadlock", async () => {
    for (let round = 0; round < 10; round += 1) {
      const orders = Array.from({ length: 20 }, () => orderOf(newId()));
      const mine = orders.map((order) => ({ ...order, taskId: newId() }));
      const [first, second] = await Promise.all([
        claimOrders(database, orders),
        claimOrders(database, mine.toReversed()),
      ]);
      expect(first.size + second.size).toBe(20);
    }
  });
});

/** Resolves when a transaction waits for a lock. */
async function awaitLock(): Promise<void> {
  await waitUntil("a waiting transaction", async () => {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(database);
    return rows.length > 0;
  });
}

describe("submissions that are written together", () => {
  function write(submissions: readonly Submission[]) {
    const { clock } = front.gateway.parts;
    const day = 24 * 60 * 60 * 1000;
    const writer = createSubmissionWriter({
      database,
      clock,
      currency: "USD",
      keyValidityMs: day,
      begin: () => {},
    });
    return Promise.all(submissions.map((submission) => writer.submit(submission)));
  }

  function submissionOf(owner: DramaCaller, price: bigint, more: Partial<Submission> = {}): Submission {
    const { ids, clock } = front.gateway.parts;
    const stage = {
      step: "script",
      outputType: "script",
      priceId: "price",
      minimum: nano(0n),
      counts: "calls",
    } as const;
    const terms: StagedTerms = {
      stages: [{ ...stage, rate: nano(price), per: 1n, unitsMax: 1n }],
      marks: [],
      quota: { kind: "video", unitsMax: 1n },
      budgetAmount: null,
    };
    const task: NewTask = {
      ...{ id: newId(), accountId: owner.accountId, keyId: owner.keyId, parentId: null, type: "drama" },
      ...{
        model: "sandbox-drama",
        request: { type: "drama", title: "" },
        inputs: [],
        steps: [],
        terms,
        holdId: ids.next("hold"),
      },
      ...{ outputIds: [], metadata: null, callbackUrl: null, requestId: "req_1", clientRequestId: null },
      deadlineAt: new Date(clock.now().getTime() + 60_000),
      createdAt: clock.now(),
    };
    const limits = { accountLimits: standardLimits, keyLimits: {}, logsContent: false };
    const who = {
      ...limits,
      accountId: owner.accountId,
      keyId: owner.keyId,
      lineageId: owner.keyId,
      planId: null,
      modelIds: null,
      budget: null,
    };
    const order = { clientBusinessId: "order-1", scope: "script 1", fingerprint: Buffer.from("one") };
    return { task, caller: who, held: nano(price), keyed: null, order, ...more };
  }

  const cent = 10_000_000n;

  test("for one order are one task: the first, and the others find it taken", async () => {
    const owner = await front.createCaller();
    const outcomes = await write([submissionOf(owner, cent), submissionOf(owner, cent), submissionOf(owner, cent)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["created", "order-taken", "order-taken"]);
    expect(await owner.countTraces()).toMatchObject({ tasks: 1, holds: 1 });
  });

  test("for one order that cannot be paid are all refused alike, and the order is free", async () => {
    const owner = await front.createCaller({ cash: "0" });
    const outcomes = await write([submissionOf(owner, cent), submissionOf(owner, cent)]);
    expect(outcomes).toMatchObject([
      { kind: "refused", error: { code: "insufficient_balance" } },
      { kind: "refused", error: { code: "insufficient_balance" } },
    ]);
    expect(await owner.countOrders()).toBe(0);
  });

  test("without an order, or for others, are independent of it", async () => {
    const owner = await front.createCaller();
    const other = { clientBusinessId: "order-2", scope: "script 1", fingerprint: Buffer.from("one") };
    const outcomes = await write([
      submissionOf(owner, cent),
      submissionOf(owner, cent, { order: null }),
      submissionOf(owner, cent, { order: other }),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["created", "created", "created"]);
    expect(await owner.countOrders()).toBe(2);
  });

  test("one that can be paid is not refused because another request under its id cannot be", async () => {
    const owner = await front.createCaller({ cash: "0.01" });
    const order = { clientBusinessId: "order-1", scope: "script 1", fingerprint: Buffer.from("another") };
    const [dear, cheap] = await write([submissionOf(owner, 5n * cent), submissionOf(owner, cent, { order })]);
    expect(dear).toMatchObject({ kind: "refused" });
    expect(cheap?.kind).not.toBe("refused");
  });

  test("that take over the order of a canceled task and cannot be paid leave it free", async () => {
    const owner = await front.createCaller({ cash: "0.02" });
    const first = await owner.order({ client_business_id: "order-1" });
    await owner.cancel(first.id);
    await owner.order();
    const outcomes = await write([submissionOf(owner, cent)]);
    expect(outcomes).toMatchObject([{ kind: "refused" }]);
    expect(await owner.countOrders()).toBe(0);
  });
});

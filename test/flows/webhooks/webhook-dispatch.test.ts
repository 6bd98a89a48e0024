import { sql } from "kysely";
import { expect, onTestFinished, test, vi } from "vitest";
import { claimDeliveries } from "../../../src/features/webhooks/delivery-queue-store.ts";
import type { EventId } from "../../../src/lib/ids.ts";
import { createDatabase } from "../../../src/platform/database/database.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import { openWebhookStage, type WebhookStage } from "../../harness/servers/webhook-stage.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const leaseMs = 20_000;
/** Longer than any test. */
const forEverMs = 600_000;

async function openStage(): Promise<WebhookStage> {
  const stage = await openWebhookStage();
  onTestFinished(() => stage[Symbol.asyncDispose]());
  return stage;
}

async function openReceiver(answer?: Parameters<typeof startWebhookReceiver>[0]): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver(answer);
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  return receiver;
}

function listIds({ deliveries }: WebhookReceiver): (string | string[] | undefined)[] {
  return deliveries.map(({ headers }) => headers["webhook-id"]);
}

async function countSucceeded(stage: WebhookStage): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) from deliveries where state = 'succeeded'`.execute(
    stage.database,
  );
  return Number(rows[0]?.count);
}

/** Claims as a process that then dies. */
async function claimAndDie(stage: WebhookStage, lane: string): Promise<number> {
  const now = stage.clock.now();
  const lease = { leaseId: "node_dead", leaseUntil: new Date(now.getTime() + leaseMs), now };
  return (await claimDeliveries(stage.database, new Map([[lane, 10]]), lease)).length;
}

test("deliveries that a process claimed before it died are claimed by another when its lease is over, and not before", async () => {
  const [stage, receiver] = [await openStage(), await openReceiver()];
  const accountId = await stage.createAccount();
  const { id: endpointId } = await stage.createEndpoint(accountId, receiver.url);
  const claimed = await stage.record(accountId);
  expect(await claimAndDie(stage, `${accountId}/${endpointId}`)).toBe(1);
  await stage.startSender();
  stage.clock.advance(leaseMs - 1);
  const witness = await stage.record(accountId);
  await stage.settle(witness);
  expect(listIds(receiver)).toEqual([witness]);
  stage.clock.advance(1);
  expect(await stage.settle(claimed)).toMatchObject([{ state: "succeeded", attemptCount: 1 }]);
  expect(listIds(receiver)).toEqual([witness, claimed]);
});

test("a crash between sending and writing the result makes another process send it again with the same id", async () => {
  const stage = await openStage();
  const answers: (() => void)[] = [];
  const receiver = await openReceiver((_, response) => {
    if (answers.length > 0) response.writeHead(204).end();
    else answers.push(() => response.writeHead(200).end());
  });
  const accountId = await stage.createAccount();
  await stage.createEndpoint(accountId, receiver.url);
  const id = await stage.record(accountId);
  const address = { connectionString: stage.url };
  const lost = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  const first = await stage.startSender({ database: lost });
  await receiver.waitForDeliveries(1);
  await lost.destroy();
  answers[0]?.();
  await stage.startSender();
  stage.clock.advance(leaseMs);
  const [delivery] = await stage.settle(id);
  await first.close();
  expect(listIds(receiver)).toEqual([id, id]);
  expect(delivery).toMatchObject({ state: "succeeded", attemptCount: 1, attempts: [{ number: 1, status: 204 }] });
});

test("a result that comes after another process has claimed the delivery is logged and changes nothing", async () => {
  const stage = await openStage();
  const answers: (() => void)[] = [];
  const receiver = await openReceiver((_, response) => {
    answers.push(() => response.writeHead(answers.length === 1 ? 500 : 200).end());
  });
  const accountId = await stage.createAccount();
  await stage.createEndpoint(accountId, receiver.url);
  const id = await stage.record(accountId);
  await stage.startSender();
  await receiver.waitForDeliveries(1);
  const taken = { lease_id: "node_other", due_at: new Date(stage.clock.now().getTime() + leaseMs) };
  await stage.database.updateTable("deliveries").set(taken).where("event_id", "=", id).execute();
  answers[0]?.();
  const delivery = await waitUntil("the log", async () =>
    (await stage.listDeliveries(id)).find(({ attempts }) => attempts.length === 1),
  );
  expect(delivery).toMatchObject({ state: "pending", attemptCount: 0, attempts: [{ status: 500 }] });
});

test("two processes share the work and never send the same delivery at the same time", async () => {
  const stage = await openStage();
  const open = new Set<unknown>();
  const twice: unknown[] = [];
  const receiver = await openReceiver(async ({ headers }, response) => {
    const id = headers["webhook-id"];
    if (open.has(id)) twice.push(id);
    open.add(id);
    await new Promise(setImmediate);
    open.delete(id);
    response.writeHead(200).end();
  });
  const events: EventId[] = [];
  for (let account = 0; account < 10; account += 1) {
    const accountId = await stage.createAccount();
    await stage.createEndpoint(accountId, receiver.url);
    for (let count = 0; count < 30; count += 1) events.push(await stage.record(accountId));
  }
  await stage.startSender({ heldMax: 10 });
  await stage.startSender({ heldMax: 10 });
  await waitUntil("all of them", async () => (await countSucceeded(stage)) === events.length);
  expect(twice).toEqual([]);
  expect(listIds(receiver).toSorted()).toEqual(events.toSorted());
  const leases = await stage.database.selectFrom("delivery_attempts").select("lease_id").distinct().execute();
  expect(leases).toHaveLength(2);
});

test("a receiver that hangs delays no other, of its own account or another", async () => {
  const stage = await openStage();
  const dead = await openReceiver(() => {});
  const receiver = await openReceiver();
  const deadAccount = await stage.createAccount();
  await stage.createEndpoint(deadAccount, `${dead.url}endpoint`);
  for (let count = 0; count < 100; count += 1) await stage.record(deadAccount);
  for (let count = 0; count < 100; count += 1) {
    await stage.record(deadAccount, { callbackUrl: `${dead.url}callback/${count}`, type: "task.failed" });
  }
  const sender = await stage.startSender({ attemptMs: 15_000, heldMax: 40 });
  // The concurrency limit of the hanging receiver: its endpoint, and its callbacks as one.
  await dead.waitForDeliveries(20);
  await stage.createEndpoint(deadAccount, `${receiver.url}same-account`);
  for (let count = 0; count < 20; count += 1) {
    const accountId = await stage.createAccount();
    await stage.createEndpoint(accountId, receiver.url);
    for (let more = 0; more < 9; more += 1) await stage.record(accountId);
    await stage.record(deadAccount);
  }
  await waitUntil("all that is well", async () => (await countSucceeded(stage)) === 200);
  expect(receiver.deliveries).toHaveLength(200);
  expect(dead.deliveries).toHaveLength(20);
  expect(new Set(dead.deliveries.map(({ path }) => path.split("/")[1]))).toEqual(new Set(["endpoint", "callback"]));
  await sender.close();
});

test("a process that stops returns its unfinished deliveries, for others to send at once", async () => {
  const stage = await openStage();
  let isHanging = true;
  const receiver = await openReceiver((_, response) => {
    if (!isHanging) response.writeHead(200).end();
  });
  const accountId = await stage.createAccount();
  await stage.createEndpoint(accountId, receiver.url);
  const id = await stage.record(accountId);
  const sender = await stage.startSender({ attemptMs: 15_000, closeTimeoutMs: 50 });
  await receiver.waitForDeliveries(1);
  await sender.close();
  const left = await stage.listDeliveries(id);
  expect(left).toMatchObject([{ state: "pending", attemptCount: 0, nextAttemptAt: stage.clock.now(), attempts: [] }]);
  isHanging = false;
  await stage.startSender();
  expect(await stage.settle(id)).toMatchObject([{ state: "succeeded", attemptCount: 1 }]);
});

test("a process that stops waits for deliveries in progress", async () => {
  const stage = await openStage();
  const answers: (() => void)[] = [];
  const receiver = await openReceiver((_, response) => {
    answers.push(() => response.writeHead(200).end());
  });
  const accountId = await stage.createAccount();
  await stage.createEndpoint(accountId, receiver.url);
  const id = await stage.record(accountId);
  const sender = await stage.startSender({ closeTimeoutMs: forEverMs });
  await receiver.waitForDeliveries(1);
  const closing = sender.close();
  answers[0]?.();
  await closing;
  expect(await stage.listDeliveries(id)).toMatchObject([{ state: "succeeded" }]);
});

test("a silent receiver times out, and is retried", async () => {
  const stage = await openStage();
  const dead = await openReceiver(() => {});
  const accountId = await stage.createAccount();
  await stage.createEndpoint(accountId, dead.url);
  await stage.startSender({ attemptMs: 100 });
  const deliveries = await stage.settle(await stage.record(accountId));
  expect(deliveries).toMatchObject([
    { state: "pending", attempts: [{ status: null, error: "timeout", answer: null }] },
  ]);
});

test("pending deliveries of a deleted or disabled endpoint are dropped", async () => {
  const stage = await openStage();
  const receiver = await openReceiver();
  const accountId = await stage.createAccount();
  const deleted = await stage.createEndpoint(accountId, `${receiver.url}deleted`);
  const disabled = await stage.createEndpoint(accountId, `${receiver.url}disabled`);
  const id = await stage.record(accountId);
  // As if the event is recorded during a delete and a disable.
  await stage.database.deleteFrom("webhook_endpoints").where("id", "=", deleted.id).execute();
  const off = { disabled_at: stage.clock.now(), disabled_reason: "owner" };
  await stage.database.updateTable("webhook_endpoints").set(off).where("id", "=", disabled.id).execute();
  await stage.startSender();
  const deliveries = await waitUntil("the drop", async () => {
    const found = await stage.listDeliveries(id);
    return found.every(({ state }) => state === "dropped") && found;
  });
  expect(deliveries).toHaveLength(2);
  expect(receiver.deliveries).toEqual([]);
});

test("a secret that cannot be decrypted is logged as an internal error, and blocks no other delivery", async () => {
  const stage = await openStage();
  const receiver = await openReceiver();
  const accountId = await stage.createAccount();
  const { id: endpointId } = await stage.createEndpoint(accountId, receiver.url);
  await stage.startSender({ masterKey: { derive: () => Buffer.alloc(32, "another") } });
  const id = await stage.record(accountId, { callbackUrl: `${receiver.url}callback` });
  const deliveries = await stage.settle(id);
  const ofEndpoint = deliveries.find((delivery) => delivery.endpointId === endpointId);
  expect(ofEndpoint).toMatchObject({ state: "pending", attempts: [{ status: null, error: "internal_error" }] });
  expect(receiver.deliveries.map(({ path }) => path)).toEqual(["/callback"]);
  expect(stage.logs.join("")).toContain("webhook delivery postponed");
});

test("no secret is in the database or in the logs", async () => {
  const stage = await openStage();
  const receiver = await openReceiver();
  await stage.startSender();
  const accountId = await stage.createAccount();
  const endpoint = await stage.createEndpoint(accountId, receiver.url);
  const rotated = await stage.call(accountId, "POST", `/webhook_endpoints/${endpoint.id}/rotate_secret`);
  const own = await stage.call(accountId, "GET", "/webhook_secret");
  const ownRotated = await stage.call(accountId, "POST", "/webhook_secret/rotate");
  await stage.settle(await stage.record(accountId, { callbackUrl: `${receiver.url}callback` }));
  const tables = ["webhook_endpoints", "account_webhook_secrets", "events", "deliveries", "delivery_attempts"];
  const dumps = await Promise.all(
    tables.map((table) =>
      sql<{ row: string }>`select t::text as row from ${sql.table(table)} t`.execute(stage.database),
    ),
  );
  const everything = dumps.flatMap(({ rows }) => rows.map(({ row }) => row)).join("\n") + stage.logs.join("\n");
  expect(everything).toContain(endpoint.id);
  const secrets: string[] = [endpoint.secret, rotated.body.secret, own.body.secret, ownRotated.body.secret];
  expect(new Set(secrets).size).toBe(4);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const bytes = Buffer.from(secret.slice(6), "base64");
    for (const form of [secret.slice(6), bytes.toString("hex"), bytes.toString("base64url")]) {
      expect(everything).not.toContain(form);
    }
  }
});

test("an idle dispatcher polls rarely, until a notification wakes it", async () => {
  const stage = await openStage();
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(() => timers.mockRestore());
  const listPauses = (): number[] =>
    timers.mock.calls.filter(([work]) => work.name === "poll").map(([, ms]) => Number(ms));
  const { webhooks } = await stage.startSender({ pollEveryMs: 200 });
  await waitUntil("the first look", () => listPauses().length === 1);
  webhooks.pollSoon();
  webhooks.pollSoon();
  const [seldom, soon, ...more] = listPauses();
  expect(seldom).toBeGreaterThan(3_000);
  expect(soon).toBeLessThanOrEqual(1_000);
  expect(more).toEqual([]);
});

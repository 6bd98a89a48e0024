import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { retryDelaysMs } from "../../../src/features/webhooks/decide-retry.ts";
import { forgetOldEvents, hasListener, openEventInbox, recordEvent } from "../../../src/features/webhooks/index.ts";
import { startRecordingServer } from "../../harness/servers/recording-server.ts";
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import { openWebhookStage, type WebhookStage } from "../../harness/servers/webhook-stage.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

let stage: WebhookStage;
let receiver: WebhookReceiver;
beforeAll(async () => {
  stage = await openWebhookStage();
  receiver = await startWebhookReceiver();
  await stage.startSender();
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

/** An account, and its own deliveries among all. */
async function createReceiverOf(more: { event_types?: string[] } = {}) {
  const accountId = await stage.createAccount();
  const path = `${accountId}/hook`;
  const endpoint = await stage.createEndpoint(accountId, receiver.url + path, more);
  const list = () => receiver.deliveries.filter((delivery) => delivery.path === `/${path}`);
  return { accountId, endpoint, url: receiver.url + path, list };
}

test("an event arrives as specified, and the official library accepts its signature", async () => {
  const { accountId, endpoint, list } = await createReceiverOf();
  const id = await stage.record(accountId);
  const [delivery] = await stage.settle(id);
  const [request] = list();
  if (request === undefined) throw new Error("Nothing arrived.");
  const now = stage.clock.now();
  expect(verifyDelivery(request, endpoint.secret, now)).toEqual({
    id,
    type: "task.succeeded",
    created: Math.floor(now.getTime() / 1000),
    data: {
      task_id: "task_1",
      status: "succeeded",
      output: [{ type: "image", url: `https://files.example/file_1?at=${now.getTime()}` }],
    },
  });
  expect(request.method).toBe("POST");
  expect(request.headers).toMatchObject({ "webhook-id": id, "content-type": "application/json" });
  expect(delivery).toMatchObject({ state: "succeeded", attempts: [{ number: 1, status: 200, error: null }] });
  expect(() => verifyDelivery(request, `whsec_${Buffer.alloc(32).toString("base64")}`, now)).toThrow();
});

test("a rolled back transaction leaves no event and no delivery", async () => {
  const { accountId, list } = await createReceiverOf();
  const event = { accountId, type: "task.failed" as const, createdAt: stage.clock.now(), data: {}, callbackUrl: null };
  const failing = stage.database.transaction().execute(async (tx) => {
    await recordEvent(tx, { ...event, id: stage.ids.next("evt") }, stage);
    throw new Error("It did not happen.");
  });
  await expect(failing).rejects.toThrow("It did not happen.");
  await stage.settle(await stage.record(accountId));
  expect(list()).toHaveLength(1);
  expect((await stage.call(accountId, "GET", "/events")).body.data).toHaveLength(1);
});

describe("the receivers of an event", () => {
  test("are all endpoints whose filter matches", async () => {
    const accountId = await stage.createAccount();
    const url = (name: string): string => `${receiver.url}${accountId}/${name}`;
    await stage.createEndpoint(accountId, url("all"));
    await stage.createEndpoint(accountId, url("failures"), { event_types: ["task.failed", "task.expired"] });
    await stage.createEndpoint(accountId, url("successes"), { event_types: ["task.succeeded"] });
    const deliveries = await stage.settle(await stage.record(accountId, { type: "task.failed" }));
    expect(deliveries.map((delivery) => delivery.url).toSorted()).toEqual([url("all"), url("failures")]);
  });

  test("include the callback URL, signed with the account's own secret", async () => {
    const { accountId } = await createReceiverOf();
    const callbackUrl = `${receiver.url}${accountId}/callback?task=1#part`;
    const deliveries = await stage.settle(await stage.record(accountId, { callbackUrl }));
    expect(deliveries).toHaveLength(2);
    const request = receiver.deliveries.find(({ path }) => path === `/${accountId}/callback?task=1`);
    const { body } = await stage.call(accountId, "GET", "/webhook_secret");
    if (request === undefined) throw new Error("Nothing arrived.");
    expect(verifyDelivery(request, body.secret, stage.clock.now())).toMatchObject({ type: "task.succeeded" });
  });

  test("get each URL once, however it is spelled", async () => {
    const { accountId, endpoint, url, list } = await createReceiverOf();
    const callbackUrl = url.replace("http://127.0.0.1", "HTTP://127.1").replace("/hook", "/x/../hook#a");
    const id = await stage.record(accountId, { callbackUrl });
    expect(await stage.settle(id)).toMatchObject([{ endpointId: endpoint.id, state: "succeeded" }]);
    expect(list()).toHaveLength(1);
  });

  test("are none without a matching endpoint, and the event can be listed", async () => {
    const accountId = await stage.createAccount();
    const id = await stage.record(accountId);
    expect(await stage.listDeliveries(id)).toEqual([]);
    expect((await stage.call(accountId, "GET", "/events")).body.data).toMatchObject([{ id, object: "event" }]);
  });

  test("exist if there is an enabled endpoint or the inbox is open", async () => {
    const accountId = await stage.createAccount();
    expect(await hasListener(stage.database, accountId, stage.clock.now())).toBe(false);
    await openEventInbox(stage.database, accountId, stage.clock.now());
    await openEventInbox(stage.database, accountId, stage.clock.now());
    expect(await hasListener(stage.database, accountId, stage.clock.now())).toBe(true);
    const other = await createReceiverOf();
    expect(await hasListener(stage.database, other.accountId, stage.clock.now())).toBe(true);
    await stage.call(other.accountId, "PATCH", `/webhook_endpoints/${other.endpoint.id}`, { enabled: false });
    expect(await hasListener(stage.database, other.accountId, stage.clock.now())).toBe(false);
  });
});

test("a failing receiver gets the same id on every scheduled retry, with a fresh signature and links", async () => {
  await using failing = await startWebhookReceiver((_, response) => void response.writeHead(500).end());
  const accountId = await stage.createAccount();
  const endpoint = await stage.createEndpoint(accountId, failing.url);
  const list = () => failing.deliveries;
  const witness = await createReceiverOf();
  const id = await stage.record(accountId);
  const waitsMs: number[] = [];
  for (let number = 1; number <= 10; number += 1) {
    const [delivery] = await stage.settle(id);
    expect(delivery?.attempts).toHaveLength(number);
    const request = list().at(-1);
    if (request === undefined || delivery === undefined) throw new Error("Nothing arrived.");
    const event = verifyDelivery(request, endpoint.secret, stage.clock.now());
    expect(event).toMatchObject({
      id,
      data: { output: [{ url: expect.stringContaining(`${stage.clock.now().getTime()}`) }] },
    });
    if (delivery.nextAttemptAt === null) break;
    waitsMs.push(delivery.nextAttemptAt.getTime() - stage.clock.now().getTime());
    stage.clock.advance((waitsMs.at(-1) ?? 0) - 1);
    // All due deliveries are claimed at once, so by then this one was skipped.
    await stage.settle(await stage.record(witness.accountId));
    expect(await stage.settle(id)).toMatchObject([{ attemptCount: number }]);
    stage.clock.advance(1);
  }
  // The jitter is fixed at its middle here.
  expect(waitsMs).toEqual([...retryDelaysMs]);
  expect(await stage.settle(id)).toMatchObject([{ state: "failed", attemptCount: 10, nextAttemptAt: null }]);
  expect(new Set(list().map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
  expect(new Set(list().map(({ headers }) => headers["webhook-timestamp"])).size).toBe(10);
});

test("both secrets sign during a rotation, and only the new one afterwards", async () => {
  const { accountId, endpoint, list } = await createReceiverOf();
  const rotated = await stage.call(accountId, "POST", `/webhook_endpoints/${endpoint.id}/rotate_secret`);
  expect(rotated.body.previous_secret_expires_at).toBe(new Date(stage.clock.now().getTime() + dayMs).toISOString());
  const deliver = async () => {
    await stage.settle(await stage.record(accountId));
    const request = list().at(-1);
    if (request === undefined) throw new Error("Nothing arrived.");
    return request;
  };
  stage.clock.advance(dayMs - 1);
  const during = await deliver();
  for (const secret of [endpoint.secret, rotated.body.secret]) verifyDelivery(during, secret, stage.clock.now());
  stage.clock.advance(1);
  const after = await deliver();
  verifyDelivery(after, rotated.body.secret, stage.clock.now());
  expect(() => verifyDelivery(after, endpoint.secret, stage.clock.now())).toThrow();
  const { body } = await stage.call(accountId, "GET", `/webhook_endpoints/${endpoint.id}`);
  expect(body).not.toHaveProperty("previous_secret_expires_at");
  expect(body).not.toHaveProperty("secret");
});

test("the account's own secret is rotated the same way", async () => {
  const accountId = await stage.createAccount();
  const first = (await stage.call(accountId, "GET", "/webhook_secret")).body.secret;
  expect((await stage.call(accountId, "GET", "/webhook_secret")).body.secret).toBe(first);
  const { body } = await stage.call(accountId, "POST", "/webhook_secret/rotate", {});
  expect((await stage.call(accountId, "GET", "/webhook_secret")).body).toEqual(body);
  await stage.settle(await stage.record(accountId, { callbackUrl: `${receiver.url}${accountId}` }));
  const request = receiver.deliveries.find(({ path }) => path === `/${accountId}`);
  if (request === undefined) throw new Error("Nothing arrived.");
  for (const secret of [first, body.secret]) verifyDelivery(request, secret, stage.clock.now());
});

test("410 ends the delivery, disables the endpoint and drops its pending deliveries", async () => {
  const { accountId, endpoint, list } = await createReceiverOf();
  receiver.answerWith(500);
  const waiting = await stage.record(accountId);
  await stage.settle(waiting);
  receiver.answerWith(410);
  const gone = await stage.record(accountId);
  expect(await stage.settle(gone)).toMatchObject([{ state: "failed", attemptCount: 1 }]);
  await waitUntil("the notice", () => stage.disabled.some(({ id }) => id === endpoint.id));
  expect((await stage.call(accountId, "GET", `/webhook_endpoints/${endpoint.id}`)).body).toMatchObject({
    enabled: false,
    disabled_reason: "gone",
    disabled_at: stage.clock.now().toISOString(),
  });
  await waitUntil("the drop", async () => (await stage.listDeliveries(waiting))[0]?.state === "dropped");
  expect(await stage.settle(await stage.record(accountId))).toEqual([]);
  expect(list()).toHaveLength(2);
});

test("410 of a callback URL ends its delivery", async () => {
  const accountId = await stage.createAccount();
  receiver.answerWith(410);
  const id = await stage.record(accountId, { callbackUrl: `${receiver.url}${accountId}` });
  expect(await stage.settle(id)).toMatchObject([{ state: "failed", attemptCount: 1, endpointId: null }]);
});

test("five days of failure disable an endpoint and notify its owner once; a success in between resets them", async () => {
  const { accountId, endpoint } = await createReceiverOf();
  const fail = async (): Promise<boolean> => {
    receiver.answerWith(500);
    await stage.settle(await stage.record(accountId));
    // Retries of earlier events would succeed.
    await stage.database
      .updateTable("deliveries")
      .set({ state: "failed", due_at: null })
      .where("state", "=", "pending")
      .execute();
    return (await stage.call(accountId, "GET", `/webhook_endpoints/${endpoint.id}`)).body.enabled;
  };
  expect(await fail()).toBe(true);
  stage.clock.advance(5 * dayMs - 1);
  expect(await fail()).toBe(true);
  await stage.settle(await stage.record(accountId));
  const { body } = await stage.call(accountId, "GET", `/webhook_endpoints/${endpoint.id}`);
  expect(body).not.toHaveProperty("failing_since");
  stage.clock.advance(1);
  expect(await fail()).toBe(true);
  const since = stage.clock.now().toISOString();
  stage.clock.advance(5 * dayMs);
  expect(await fail()).toBe(false);
  const told = await waitUntil("the notice", () => stage.disabled.find(({ id }) => id === endpoint.id));
  expect(told).toMatchObject({ accountId, disabled: { reason: "failing" } });
  const shown = await stage.call(accountId, "GET", `/webhook_endpoints/${endpoint.id}`);
  expect(shown.body).toMatchObject({ disabled_reason: "failing", failing_since: since });
  const enabled = await stage.call(accountId, "PATCH", `/webhook_endpoints/${endpoint.id}`, { enabled: true });
  expect(enabled.body).toMatchObject({ enabled: true });
  expect(enabled.body).not.toHaveProperty("failing_since");
  expect(await fail()).toBe(true);
  expect(stage.disabled.filter(({ id }) => id === endpoint.id)).toHaveLength(1);
});

test("Retry-After is respected up to twice the scheduled wait", async () => {
  const waits: number[] = [];
  for (const seconds of ["7", "3600", "1", "soon"]) {
    await using busy = await startRecordingServer((_, response) => {
      response.writeHead(503, { "retry-after": seconds }).end();
    });
    const accountId = await stage.createAccount();
    const [delivery] = await stage.settle(await stage.record(accountId, { callbackUrl: busy.url }));
    waits.push((delivery?.nextAttemptAt?.getTime() ?? 0) - stage.clock.now().getTime());
  }
  expect(waits).toEqual([7000, 10_000, 5000, 5000]);
});

test("a redirect is a failure and is not followed", async () => {
  await using server = await startRecordingServer((_, response) => {
    response.writeHead(307, { location: `${receiver.url}redirected` }).end();
  });
  const accountId = await stage.createAccount();
  const [delivery] = await stage.settle(await stage.record(accountId, { callbackUrl: server.url }));
  expect(delivery).toMatchObject({ state: "pending", attempts: [{ status: 307, error: "redirect" }] });
  expect(receiver.deliveries.filter(({ path }) => path === "/redirected")).toEqual([]);
});

test("an endless answer is a success by its status, and only its beginning is stored", async () => {
  await using server = await startRecordingServer((_, response) => {
    response.writeHead(202);
    // Until the connection closes: a response stays writable after that, and would be written to endlessly.
    const go = (): void => {
      response.write(`\0é${"x".repeat(10_000)}`, (error) => {
        if (error == null && !response.destroyed) setImmediate(go);
      });
    };
    go();
  });
  const accountId = await stage.createAccount();
  const [delivery] = await stage.settle(await stage.record(accountId, { callbackUrl: server.url }));
  expect(delivery?.state).toBe("succeeded");
  expect(delivery?.attempts[0]?.answer).toBe(`�é${"x".repeat(1021)}`);
});

test("events older than 30 days are not listed, and are dropped with their month, unless one is still pending", async () => {
  await using own = await openWebhookStage();
  const accountId = await own.createAccount();
  await own.createEndpoint(accountId, "http://127.0.0.1:9/");
  const pending = await own.record(accountId);
  const done = await own.record(accountId, { type: "task.canceled" });
  await own.database
    .updateTable("deliveries")
    .set({ state: "failed", due_at: null })
    .where("event_id", "=", done)
    .execute();
  own.clock.advance(30 * dayMs);
  const young = await own.record(accountId);
  const listIds = async () =>
    (await own.call(accountId, "GET", "/events")).body.data.map(({ id }: { id: string }) => id);
  await forgetOldEvents(own.database, own.clock.now());
  expect(await listIds()).toEqual([young, done, pending].toSorted().toReversed());
  own.clock.advance(1);
  expect(await listIds()).toEqual([young]);
  for (const path of [`/events/${done}/deliveries`, `/events/${pending}/deliveries`]) {
    expect(await own.call(accountId, "GET", path)).toMatchObject({ status: 404 });
  }
  expect(await own.call(accountId, "POST", `/events/${done}/resend`)).toMatchObject({ status: 404 });
  own.clock.advance(32 * dayMs);
  await forgetOldEvents(own.database, own.clock.now());
  expect(await own.listDeliveries(done)).toEqual([]);
  expect(await own.listDeliveries(pending)).toMatchObject([{ state: "pending" }]);
});

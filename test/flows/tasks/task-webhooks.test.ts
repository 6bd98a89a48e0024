import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from "../../harness/servers/webhook-receiver.ts";
import {
  openTaskStage,
  paths,
  type StageCaller,
  type TaskStage,
  type WholeTask,
} from "../../harness/tasks/task-stage.ts";

let stage: TaskStage;

beforeAll(async () => {
  stage = await openTaskStage();
});
afterAll(() => stage[Symbol.asyncDispose]());

type Told = { id: string; type: string; created: number; data: ToldTask };
type ToldTask = Partial<WholeTask> & { task_id: string };

async function createEndpoint(caller: StageCaller, body: object): Promise<string> {
  const response = await caller.post("/webhook_endpoints", body);
  expect(response.status).toBe(201);
  return ((await response.json()) as { secret: string }).secret;
}

async function readAccountSecret(caller: StageCaller): Promise<string> {
  return ((await (await caller.get("/webhook_secret")).json()) as { secret: string }).secret;
}

async function hear(receiver: WebhookReceiver, secret: string): Promise<Told> {
  const [delivery] = await receiver.waitForDeliveries(1);
  if (delivery === undefined) throw new Error("Nothing was delivered.");
  const told = verifyDelivery(delivery, secret, new Date()) as unknown as Told;
  expect(delivery.headers["webhook-id"]).toBe(told.id);
  return told;
}

async function fetchOutput(url: string): Promise<Buffer> {
  const response = await stage.fetch(stage.gateway.siteUrl + url.replace(/^http:\/\/[^/]+/, ""));
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

describe("when a task has ended", () => {
  test("the account's endpoint and the request's callback get the event, signed, with links that work", async () => {
    await using endpoint = await startWebhookReceiver();
    await using callback = await startWebhookReceiver();
    const caller = await stage.createCaller();
    const secret = await createEndpoint(caller, { url: endpoint.url });
    const body = { model: "image", prompt: "Tell me", n: 2, callback_url: callback.url, metadata: { order: "7" } };
    const task = await caller.finish(paths.image, body);
    const told = [await hear(endpoint, secret), await hear(callback, await readAccountSecret(caller))];
    for (const event of told) {
      expect(event).toMatchObject({
        id: expect.stringMatching(/^evt_/),
        type: "task.succeeded",
        created: Math.floor(Date.parse(task.finished_at ?? "") / 1000),
        data: {
          ...{ task_id: task.id, status: "succeeded", type: "image", model: "image", usage: task.usage },
          metadata: { order: "7" },
        },
      });
      expect(event.data.output).toHaveLength(2);
      for (const [index, item] of (event.data.output ?? []).entries()) {
        const { url, ...rest } = item;
        const { url: _url, ...seen } = task.output[index] ?? { url: "" };
        expect(rest).toEqual(seen);
        expect(await fetchOutput(url)).toHaveLength(task.output[index]?.bytes ?? 0);
      }
    }
    expect(told[0]?.id).toBe(told[1]?.id);
    expect([endpoint.deliveries.length, callback.deliveries.length]).toEqual([1, 1]);
  });

  test("in a failure, the event has its error, and nothing of the upstream", async () => {
    await using endpoint = await startWebhookReceiver();
    const caller = await stage.createCaller();
    const secret = await createEndpoint(caller, { url: endpoint.url, event_types: ["task.failed"] });
    await caller.finish(paths.image, { model: "image", prompt: "Fine" });
    const task = await caller.finish(paths.image, { model: "image", prompt: "<<fault:policy>>" });
    const event = await hear(endpoint, secret);
    expect(event).toMatchObject({ type: "task.failed", data: { task_id: task.id, error: task.error, output: [] } });
    expect(JSON.stringify(endpoint.deliveries.map(({ headers, body }) => [headers, String(body)]))).not.toMatch(
      /canaryvendor/i,
    );
    expect(endpoint.deliveries).toHaveLength(1);
  });

  test("by a cancellation or by its deadline, one event is sent for each", async () => {
    await using callback = await startWebhookReceiver();
    const caller = await stage.createCaller();
    const body = { model: "image", prompt: "Endless <<fault:queue=9999>>", callback_url: callback.url };
    const expiring = await caller.submit(paths.image, body);
    await stage.handedOver();
    await stage.age(expiring.id, 60 * 60 * 1000);
    await caller.awaitTask(expiring.id, ["expired"]);
    stage.media.script({ queue: 9999, cancel: "gone" });
    const canceled = await caller.submit(paths.image, body);
    await stage.handedOver();
    await caller.cancel(canceled.id);
    await caller.awaitTask(canceled.id, ["canceled"]);
    const secret = await readAccountSecret(caller);
    const deliveries = await callback.waitForDeliveries(2);
    const types = deliveries.map((delivery) => verifyDelivery(delivery, secret, new Date()).type);
    expect(types.toSorted()).toEqual(["task.canceled", "task.expired"]);
  });

  test("the list of events contains it, with links that work too", async () => {
    const caller = await stage.createCaller();
    const task = await caller.finish(paths.image, { model: "image", prompt: "Listed" });
    const { data } = (await (await caller.get("/events")).json()) as { data: Told[] };
    expect(data).toMatchObject([{ type: "task.succeeded", data: { task_id: task.id } }]);
    const url = data[0]?.data.output?.[0]?.url ?? "";
    expect(await fetchOutput(url)).toHaveLength(task.output[0]?.bytes ?? 0);
  });
});

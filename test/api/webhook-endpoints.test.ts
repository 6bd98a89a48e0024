import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AccountId } from "../../src/lib/ids.ts";
import { openWebhookStage, type WebhookStage } from "../harness/servers/webhook-stage.ts";

let stage: WebhookStage;
let accountId: AccountId;
let otherId: AccountId;
beforeAll(async () => {
  stage = await openWebhookStage({ allowsPrivate: false });
  [accountId, otherId] = [await stage.createAccount(), await stage.createAccount()];
});
afterAll(() => stage[Symbol.asyncDispose]());

const call = (...words: Parameters<WebhookStage["call"]>) => stage.call(...words);

describe("an endpoint", () => {
  test("is created with a secret that is shown only once", async () => {
    const owner = await stage.createAccount();
    const body = { url: "https://EXAMPLE.com:443/hook?a=1#top", description: "mine", event_types: ["task.failed"] };
    const created = await call(owner, "POST", "/webhook_endpoints", body);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      object: "webhook_endpoint",
      id: expect.stringMatching(/^whe_/),
      url: "https://example.com/hook?a=1",
      description: "mine",
      event_types: ["task.failed"],
      enabled: true,
      created: Math.floor(stage.clock.now().getTime() / 1000),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(created.headers.location).toBe(`https://api.example.com/v1/webhook_endpoints/${created.body.id}`);
    const { secret, ...shown } = created.body;
    expect((await call(owner, "GET", `/webhook_endpoints/${created.body.id}`)).body).toEqual(shown);
    expect((await call(owner, "GET", "/webhook_endpoints")).body).toEqual({
      object: "list",
      data: [shown],
      has_more: false,
      next_cursor: null,
    });
    expect(secret).not.toBe((await call(owner, "GET", "/webhook_secret")).body.secret);
  });

  test("changes the given fields and keeps the rest", async () => {
    const { id } = await stage.createEndpoint(accountId, "https://example.com/changes");
    const change = (body: unknown) => call(accountId, "PATCH", `/webhook_endpoints/${id}`, body);
    expect((await change({ description: "new" })).body).toMatchObject({ description: "new", event_types: [] });
    expect((await change({ event_types: ["task.failed", "task.failed"] })).body).toMatchObject({
      description: "new",
      event_types: ["task.failed"],
    });
    expect((await change({ description: "", event_types: [] })).body).not.toHaveProperty("description");
    const disabled = (await change({ enabled: false })).body;
    expect(disabled).toMatchObject({ enabled: false, disabled_reason: "owner", event_types: [] });
    stage.clock.advance(1000);
    expect((await change({ enabled: false })).body).toEqual(disabled);
    expect((await change({ enabled: true })).body).toMatchObject({ enabled: true, url: "https://example.com/changes" });
  });

  test("redirects pending deliveries to its new URL, and drops them when it is disabled or deleted", async () => {
    const owner = await stage.createAccount();
    const { id } = await stage.createEndpoint(owner, "https://example.com/old");
    const event = await stage.record(owner);
    await call(owner, "PATCH", `/webhook_endpoints/${id}`, { url: "https://example.com/new" });
    expect(await stage.listDeliveries(event)).toMatchObject([{ url: "https://example.com/new", state: "pending" }]);
    await call(owner, "PATCH", `/webhook_endpoints/${id}`, { enabled: false });
    expect(await stage.listDeliveries(event)).toMatchObject([{ state: "dropped" }]);
    await call(owner, "PATCH", `/webhook_endpoints/${id}`, { enabled: true });
    const later = await stage.record(owner);
    expect((await call(owner, "DELETE", `/webhook_endpoints/${id}`)).body).toEqual({
      id,
      object: "webhook_endpoint",
      deleted: true,
    });
    expect(await stage.listDeliveries(later)).toMatchObject([{ state: "dropped", endpointId: id }]);
    expect((await call(owner, "GET", `/webhook_endpoints/${id}`)).status).toBe(404);
  });

  test("has a URL that is unique within its account", async () => {
    const known = { error: { code: "invalid_parameter", param: "url" } };
    const { id } = await stage.createEndpoint(accountId, "https://example.com/once");
    const again = await call(accountId, "POST", "/webhook_endpoints", { url: "https://EXAMPLE.com/x/../once" });
    expect(again).toMatchObject({ status: 400, body: known });
    await stage.createEndpoint(otherId, "https://example.com/once");
    await stage.createEndpoint(accountId, "https://example.com/twice");
    const changed = await call(accountId, "PATCH", `/webhook_endpoints/${id}`, { url: "https://example.com/twice" });
    expect(changed).toMatchObject({ status: 400, body: known });
  });

  test("is one of at most 20, however many are created at once", async () => {
    const owner = await stage.createAccount();
    const create = (number: number) =>
      call(owner, "POST", "/webhook_endpoints", { url: `https://example.com/${number}` });
    const answers = await Promise.all(Array.from({ length: 25 }, (_, number) => create(number)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(answers.find(({ status }) => status === 400)?.body.error.message).toContain("at most 20");
    const page = await call(owner, "GET", "/webhook_endpoints?limit=15");
    expect(page.body).toMatchObject({ has_more: true, next_cursor: page.body.data[14].id });
    const rest = await call(owner, "GET", `/webhook_endpoints?limit=15&after=${page.body.next_cursor}`);
    expect(rest.body).toMatchObject({ has_more: false, next_cursor: null });
    const ids = [...page.body.data, ...rest.body.data].map(({ id }: { id: string }) => id);
    expect(ids).toHaveLength(20);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  });
});

test.each([
  "http://example.com/",
  "https://127.0.0.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://0177.0.0.1/",
  "https://127.1/",
  "https://0/",
  "https://[::1]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::10.0.0.1]/",
  "https://[2002:7f00:1::]/",
  "https://[fe80::1]/",
  "https://[fd00::1]/",
  "https://100.64.0.1/",
  "https://169.254.169.254/latest/meta-data/",
  "https://metadata.google.internal/",
  "https://10.0.0.1:8443/",
  "https://192.168.0.1/",
  "https://172.16.0.1/",
  "https://localhost/",
  "https://a.localhost/",
  "https://intranet/",
  "https://user:secret@example.com/",
  "https://example.com:0/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "/hook",
  "",
  "https://exa\tmple.com/",
  `https://example.com/${"a".repeat(2048)}`,
  `https://example.com/${"é".repeat(1000)}`,
])("%j is rejected as a URL, on creation and on change", async (url) => {
  const { id } = await stage.createEndpoint(otherId, "https://example.com/refused");
  for (const answer of [
    await call(otherId, "POST", "/webhook_endpoints", { url }),
    await call(otherId, "PATCH", `/webhook_endpoints/${id}`, { url }),
  ]) {
    expect(answer).toMatchObject({ status: 400, body: { error: { code: "invalid_url", param: "url" } } });
  }
  expect((await call(otherId, "DELETE", `/webhook_endpoints/${id}`)).body.deleted).toBe(true);
});

test.each([
  ["POST", "/webhook_endpoints", {}, "missing_parameter", "url"],
  ["POST", "/webhook_endpoints", { url: 1 }, "invalid_parameter", "url"],
  ["POST", "/webhook_endpoints", { url: "https://example.com/", secret: "x" }, "unknown_parameter", "secret"],
  [
    "POST",
    "/webhook_endpoints",
    { url: "https://example.com/", event_types: ["task.begun"] },
    "invalid_parameter",
    "event_types[0]",
  ],
  [
    "POST",
    "/webhook_endpoints",
    { url: "https://example.com/", description: "x".repeat(501) },
    "invalid_parameter",
    "description",
  ],
  ["PATCH", "/webhook_endpoints/whe_1", { enabled: "yes" }, "invalid_parameter", "enabled"],
  ["POST", "/webhook_endpoints/whe_1/test", { type: "x" }, "unknown_parameter", "type"],
  ["POST", "/webhook_endpoints/whe_1/rotate_secret", { secret: "x" }, "unknown_parameter", "secret"],
  ["POST", "/webhook_secret/rotate", { secret: "x" }, "unknown_parameter", "secret"],
  ["POST", "/events/evt_1/resend", { to: "x" }, "unknown_parameter", "to"],
  ["GET", "/webhook_endpoints?limit=0", undefined, "invalid_parameter", "limit"],
  ["GET", "/webhook_endpoints?limit=101", undefined, "invalid_parameter", "limit"],
  ["GET", "/webhook_endpoints?after=';--", undefined, "invalid_parameter", "after"],
  ["GET", "/webhook_endpoints/whe_1/deliveries?status=lost", undefined, "invalid_parameter", "status"],
  ["GET", "/events?type=task.begun", undefined, "invalid_parameter", "type"],
  ["GET", "/events?since=1", undefined, "unknown_parameter", "since"],
] as const)("%s %s with %j is rejected with %s", async (method, path, body, code, param) => {
  const answer = await call(accountId, method, path, body);
  expect(answer).toMatchObject({ status: 400, body: { error: { code, param } } });
});

test("another account's endpoints and events are not found", async () => {
  const { id } = await stage.createEndpoint(accountId, "https://example.com/mine");
  const event = await stage.record(accountId);
  const attempts = [
    ["GET", `/webhook_endpoints/${id}`],
    ["PATCH", `/webhook_endpoints/${id}`, { enabled: false }],
    ["DELETE", `/webhook_endpoints/${id}`],
    ["POST", `/webhook_endpoints/${id}/rotate_secret`],
    ["POST", `/webhook_endpoints/${id}/test`],
    ["GET", `/webhook_endpoints/${id}/deliveries`],
    ["GET", `/events/${event}/deliveries`],
    ["POST", `/events/${event}/resend`],
  ] as const;
  for (const [method, path, body] of attempts) {
    expect(await call(otherId, method, path, body)).toMatchObject({
      status: 404,
      body: { error: { code: "not_found" } },
    });
  }
  const own = await stage.record(otherId, { callbackUrl: "https://example.com/callback" });
  const crossed = await call(otherId, "POST", `/events/${own}/resend`, { webhook_endpoint_id: id });
  expect(crossed.status).toBe(404);
  expect((await call(accountId, "GET", `/webhook_endpoints/${id}`)).body.enabled).toBe(true);
  expect((await call(otherId, "GET", "/events")).body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
});

test("events are listed newest first, by type, in pages, with fresh links", async () => {
  const owner = await stage.createAccount();
  const types = ["task.succeeded", "task.failed", "task.canceled", "task.expired", "task.succeeded"] as const;
  const ids: string[] = [];
  for (const type of types) {
    stage.clock.advance(10);
    ids.unshift(await stage.record(owner, { type }));
  }
  const list = async (query: string) => (await call(owner, "GET", `/events${query}`)).body;
  const all = await list("");
  expect(all.data.map(({ id }: { id: string }) => id)).toEqual(ids);
  expect(all.data[0].data.output[0].url).toContain(String(stage.clock.now().getTime()));
  expect((await list("?type=task.succeeded")).data.map(({ id }: { id: string }) => id)).toEqual([ids[0], ids[4]]);
  const page = await list("?limit=2");
  expect(page).toMatchObject({ has_more: true, next_cursor: ids[1] });
  expect((await list(`?limit=3&after=${page.next_cursor}`)).data.map(({ id }: { id: string }) => id)).toEqual(
    ids.slice(2),
  );
});

test("events are listed by their task, within the account only", async () => {
  const [owner, other] = [await stage.createAccount(), await stage.createAccount()];
  const tell = (accountId: AccountId, taskId: string) => stage.record(accountId, { data: { task_id: taskId } });
  const [first] = [await tell(owner, "task_a"), await tell(owner, "task_b"), await tell(other, "task_a")];
  const list = async (taskId: string) => (await call(owner, "GET", `/events?task_id=${taskId}`)).body;
  expect((await list("task_a")).data.map(({ id }: { id: string }) => id)).toEqual([first]);
  expect((await list("task_c")).data).toEqual([]);
  expect(await list("b")).toMatchObject({ error: { code: "invalid_parameter", param: "task_id" } });
});

test("an endpoint's deliveries are listed newest first, in pages, by status", async () => {
  const owner = await stage.createAccount();
  const { id } = await stage.createEndpoint(owner, "https://example.com/a");
  await stage.createEndpoint(owner, "https://example.com/b", { event_types: ["task.failed"] });
  const events: string[] = [];
  for (const type of ["task.succeeded", "task.failed", "task.canceled"] as const) {
    stage.clock.advance(10);
    events.unshift(await stage.record(owner, { type, callbackUrl: "https://example.com/callback" }));
  }
  const list = async (query: string) => (await call(owner, "GET", `/webhook_endpoints/${id}/deliveries${query}`)).body;
  const told = ({ data }: { data: { event_id: string }[] }) => data.map(({ event_id }) => event_id);
  const all = await list("");
  expect(told(all)).toEqual(events);
  expect(all.data[1]).toMatchObject({ webhook_endpoint_id: id, event_type: "task.failed", status: "pending" });
  const page = await list("?limit=2");
  expect(page).toMatchObject({ has_more: true, next_cursor: page.data[1].id });
  expect(told(await list(`?limit=2&after=${page.next_cursor}`))).toEqual(events.slice(2));
  await call(owner, "PATCH", `/webhook_endpoints/${id}`, { enabled: false });
  expect(told(await list("?status=dropped"))).toEqual(events);
  expect(told(await list("?status=pending"))).toEqual([]);
});

describe("on request", () => {
  test("a test event goes to its endpoint only, whatever that subscribes to", async () => {
    const owner = await stage.createAccount();
    const { id } = await stage.createEndpoint(owner, "https://example.com/a", { event_types: ["task.failed"] });
    await stage.createEndpoint(owner, "https://example.com/b");
    const { status, body } = await call(owner, "POST", `/webhook_endpoints/${id}/test`);
    expect([status, body]).toMatchObject([
      202,
      { object: "event", type: "webhook.test", data: { webhook_endpoint_id: id } },
    ]);
    const deliveries = await call(owner, "GET", `/events/${body.id}/deliveries`);
    expect(deliveries.body.data).toMatchObject([
      { object: "delivery", webhook_endpoint_id: id, status: "pending", attempts: [] },
    ]);
    await call(owner, "PATCH", `/webhook_endpoints/${id}`, { enabled: false });
    const refused = await call(owner, "POST", `/webhook_endpoints/${id}/test`);
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "invalid_parameter" } } });
  });

  /** Marks everything as delivered. */
  const finish = (eventId: string) =>
    stage.database
      .updateTable("deliveries")
      .set({ state: "failed", due_at: null, lease_id: null })
      .where("event_id", "=", eventId)
      .execute();

  test("an event is resent to all of its receivers that still exist", async () => {
    const owner = await stage.createAccount();
    const kept = await stage.createEndpoint(owner, "https://example.com/kept");
    const disabled = await stage.createEndpoint(owner, "https://example.com/disabled");
    const deleted = await stage.createEndpoint(owner, "https://example.com/deleted");
    const event = await stage.record(owner, { callbackUrl: "https://example.com/callback" });
    await finish(event);
    await call(owner, "PATCH", `/webhook_endpoints/${disabled.id}`, { enabled: false });
    await call(owner, "DELETE", `/webhook_endpoints/${deleted.id}`);
    await stage.createEndpoint(owner, "https://example.com/later");
    expect(await call(owner, "POST", `/events/${event}/resend`)).toMatchObject({ status: 202, body: { id: event } });
    const pending = (await stage.listDeliveries(event)).filter(({ state }) => state === "pending");
    expect(pending.map(({ url }) => url).toSorted()).toEqual([
      "https://example.com/callback",
      "https://example.com/kept",
    ]);
    await call(owner, "POST", `/events/${event}/resend`);
    expect((await stage.listDeliveries(event)).filter(({ state }) => state === "pending")).toHaveLength(2);
    await call(owner, "DELETE", `/webhook_endpoints/${kept.id}`);
  });

  test("an event is resent once under concurrent requests, even weeks later", async () => {
    const owner = await stage.createAccount();
    await stage.createEndpoint(owner, "https://example.com/once");
    const event = await stage.record(owner);
    await finish(event);
    stage.clock.advance(29 * 24 * 60 * 60 * 1000);
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(owner, "POST", `/events/${event}/resend`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect((await stage.listDeliveries(event)).map(({ state }) => state).toSorted()).toEqual(["failed", "pending"]);
  });

  test("an event can be sent to a single endpoint, which may be new", async () => {
    const owner = await stage.createAccount();
    const event = await stage.record(owner);
    const nobody = await call(owner, "POST", `/events/${event}/resend`, {});
    expect(nobody).toMatchObject({ status: 400, body: { error: { param: "webhook_endpoint_id" } } });
    const { id } = await stage.createEndpoint(owner, "https://example.com/new");
    await stage.createEndpoint(owner, "https://example.com/other");
    const again = await call(owner, "POST", `/events/${event}/resend`, { webhook_endpoint_id: id });
    expect(again.status).toBe(202);
    expect(await stage.listDeliveries(event)).toMatchObject([{ endpointId: id, state: "pending" }]);
  });

  test("a delivery that waits for its retry is due at once, and one in flight is not changed", async () => {
    const owner = await stage.createAccount();
    await stage.createEndpoint(owner, "https://example.com/waiting");
    const event = await stage.record(owner);
    const dueAt = new Date(stage.clock.now().getTime() + 10_000);
    const set = (lease_id: string | null) =>
      stage.database.updateTable("deliveries").set({ due_at: dueAt, lease_id }).where("event_id", "=", event).execute();
    const read = async () =>
      (await stage.database.selectFrom("deliveries").select("due_at").where("event_id", "=", event).execute())[0]
        ?.due_at;
    await set("node_1");
    await call(owner, "POST", `/events/${event}/resend`);
    expect(await read()).toEqual(dueAt);
    await set(null);
    await call(owner, "POST", `/events/${event}/resend`);
    expect(await read()).toEqual(stage.clock.now());
  });
});

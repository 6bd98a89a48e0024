import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forgetOldEvents, hasListener, recordEvent } from "../../src/features/webhooks/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Caller = Awaited<ReturnType<TestGateway["createCaller"]>>;
type Heard = { id: string; type: string; headers: Record<string, string>; body: string };

/** Real time, which tests can advance. */
let movedMs = 0;
const clock = {
  now: () => new Date(Date.now() + movedMs),
  monotonicMs: () => performance.now() + movedMs,
};

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ clock });
});
afterAll(() => gateway[Symbol.asyncDispose]());

function send(caller: Caller, method: string, path: string): Promise<Response> {
  return fetch(`${gateway.baseUrl}${path}`, { method, headers: { authorization: `Bearer ${caller.key}` } });
}

async function openSession(caller: Caller): Promise<{ id: string; secret: string }> {
  const response = await send(caller, "POST", "/webhook_sessions");
  expect(response.status).toBe(201);
  return (await response.json()) as { id: string; secret: string };
}

async function record(accountId: AccountId, createdAt = clock.now()): Promise<string> {
  const id = gateway.parts.ids.next("evt");
  const event = { id, accountId, type: "task.succeeded" as const, createdAt, data: { output: [] }, callbackUrl: null };
  await gateway.database.transaction().execute((tx) => recordEvent(tx, event, gateway.parts));
  return id;
}

/** Reads a session until it is closed. */
async function listen(caller: Caller, sessionId: string, lastEventId?: string) {
  const hangUp = new AbortController();
  const response = await fetch(`${gateway.baseUrl}/webhook_sessions/${sessionId}/events`, {
    headers: {
      authorization: `Bearer ${caller.key}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
    signal: hangUp.signal,
  });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const heard: Heard[] = [];
  const state = { hasEnded: false };
  const reading = read(response, heard)
    .catch(() => {})
    .finally(() => {
      state.hasEnded = true;
    });
  return {
    heard,
    state,
    async close() {
      hangUp.abort();
      await reading;
    },
  };
}

async function read(response: Response, heard: Heard[]): Promise<void> {
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks.filter((each) => each.startsWith("event:"))) {
      const [, type = "", id = "", data = ""] = /^event: (.*)\nid: (.*)\ndata: (.*)$/.exec(block) ?? [];
      heard.push({ id, type, ...JSON.parse(data) });
    }
  }
}

function listIds(heard: readonly Heard[]): string[] {
  return heard.map(({ id }) => id);
}

describe("a listener", () => {
  test("receives events with a signature that the official library verifies", async () => {
    const caller = await gateway.createCaller();
    await record(caller.accountId);
    const session = await openSession(caller);
    const listener = await listen(caller, session.id);
    const id = await record(caller.accountId);
    await waitUntil("the event", () => listener.heard.length > 0);
    await listener.close();
    expect(listIds(listener.heard)).toEqual([id]);
    const [event] = listener.heard;
    expect(event?.type).toBe("task.succeeded");
    expect(event?.headers).toMatchObject({ "webhook-id": id, "content-type": "application/json" });
    expect(new Webhook(session.secret).verify(event?.body ?? "", event?.headers ?? {})).toMatchObject({ id });
  });

  test("receives after a reconnect all missed events, also those committed late", async () => {
    const caller = await gateway.createCaller();
    const session = await openSession(caller);
    const lateId = gateway.parts.ids.next("evt");
    const first = await listen(caller, session.id);
    const firstId = await record(caller.accountId);
    await waitUntil("the event", () => first.heard.length > 0);
    await first.close();
    const late = { accountId: caller.accountId, type: "task.failed" as const, createdAt: clock.now(), data: {} };
    await gateway.database
      .transaction()
      .execute((tx) => recordEvent(tx, { ...late, id: lateId, callbackUrl: null }, gateway.parts));
    const meanwhileId = await record(caller.accountId);
    const second = await listen(caller, session.id, firstId);
    await waitUntil("what was missed", () => second.heard.length >= 2);
    await second.close();
    expect(listIds(second.heard)).toEqual([lateId, meanwhileId]);
  });

  test("receives each event once, however many arrive at a time", async () => {
    const caller = await gateway.createCaller();
    const session = await openSession(caller);
    const ids: string[] = [];
    for (let count = 0; count < 250; count += 1) ids.push(await record(caller.accountId));
    const listener = await listen(caller, session.id);
    await waitUntil("all of them", () => listener.heard.length >= 250);
    ids.push(await record(caller.accountId));
    await waitUntil("the last", () => listener.heard.length >= 251);
    await listener.close();
    expect(listIds(listener.heard).toSorted()).toEqual(ids.toSorted());
  });

  test("receives no events of another account, and no endpoint tests", async () => {
    const [caller, other] = [await gateway.createCaller(), await gateway.createCaller()];
    const session = await openSession(caller);
    const listener = await listen(caller, session.id);
    const answer = await fetch(`${gateway.baseUrl}/webhook_endpoints`, {
      method: "POST",
      headers: { authorization: `Bearer ${caller.key}`, "content-type": "application/json" },
      body: JSON.stringify({ url: "http://127.0.0.1:9/hook" }),
    });
    const endpoint = (await answer.json()) as { id: string };
    expect((await send(caller, "POST", `/webhook_endpoints/${endpoint.id}/test`)).ok).toBe(true);
    await record(other.accountId);
    const id = await record(caller.accountId);
    await waitUntil("the own event", () => listener.heard.length > 0);
    await listener.close();
    expect(listIds(listener.heard)).toEqual([id]);
    for (const method of ["GET", "DELETE"]) {
      const path = `/webhook_sessions/${session.id}${method === "GET" ? "/events" : ""}`;
      const response = await send(other, method, path);
      expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
        404,
        "not_found",
      ]);
    }
  });

  test("has the same secret in every session of a key, and another one with another key", async () => {
    const [caller, other] = [await gateway.createCaller(), await gateway.createCaller()];
    const [first, second, foreign] = [await openSession(caller), await openSession(caller), await openSession(other)];
    expect(first.secret).toMatch(/^whsec_.{44}$/);
    expect(second.secret).toBe(first.secret);
    expect(foreign.secret).not.toBe(first.secret);
  });
});

describe("a session", () => {
  test("counts as a listener for a minute, longer while it is read, and not once it has ended", async () => {
    const { parts, database } = gateway;
    const caller = await gateway.createCaller();
    const isHeard = (): Promise<boolean> => hasListener(database, caller.accountId, parts.clock.now());
    expect(await isHeard()).toBe(false);
    const session = await openSession(caller);
    expect(await isHeard()).toBe(true);
    movedMs += 61_000;
    expect(await isHeard()).toBe(false);
    const listener = await listen(caller, session.id);
    await waitUntil("it to count again", isHeard);
    movedMs += 58_000;
    await waitUntil("its renewal", async () => {
      const row = await database
        .selectFrom("webhook_sessions")
        .select("listening_until")
        .where("id", "=", session.id)
        .executeTakeFirstOrThrow();
      return row.listening_until.getTime() > parts.clock.now().getTime() + 50_000;
    });
    expect((await send(caller, "DELETE", `/webhook_sessions/${session.id}`)).status).toBe(200);
    expect(await isHeard()).toBe(false);
    movedMs += 6_000;
    await waitUntil("its stream to end", () => listener.state.hasEnded);
    expect((await send(caller, "DELETE", `/webhook_sessions/${session.id}`)).status).toBe(404);
  });

  test("has one reader at a time: the latest", async () => {
    const caller = await gateway.createCaller();
    const session = await openSession(caller);
    const findReader = async () =>
      (
        await gateway.database
          .selectFrom("webhook_sessions")
          .select("reader_id")
          .where("id", "=", session.id)
          .executeTakeFirst()
      )?.reader_id ?? null;
    const first = await listen(caller, session.id);
    // The response starts a moment before its reader owns the session.
    const firstReader = await waitUntil("the first to have it", findReader);
    const second = await listen(caller, session.id);
    await waitUntil("the second to have it", async () => (await findReader()) !== firstReader);
    // The first reader notices at its next heartbeat.
    movedMs += 6_000;
    await waitUntil("the first to notice", () => first.state.hasEnded);
    expect(second.state.hasEnded).toBe(false);
    await second.close();
  });

  test("expires after a while, so that a revoked key stops receiving events", async () => {
    const caller = await gateway.createCaller();
    const session = await openSession(caller);
    const listener = await listen(caller, session.id);
    movedMs += 15 * 60_000;
    await waitUntil("the end", () => listener.state.hasEnded);
  });

  test("is one of at most ten open at the same time", async () => {
    const caller = await gateway.createCaller();
    const answers = await Promise.all(Array.from({ length: 14 }, () => send(caller, "POST", "/webhook_sessions")));
    expect(answers.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(10);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 400]));
    movedMs += 61_000;
    await openSession(caller);
  });

  test("is deleted after a day without a reader", async () => {
    const caller = await gateway.createCaller();
    const session = await openSession(caller);
    const path = `/webhook_sessions/${session.id}`;
    await forgetOldEvents(gateway.database, new Date(clock.now().getTime() + 24 * 60 * 60 * 1000));
    expect((await send(caller, "DELETE", path)).status).toBe(200);
    const another = await openSession(caller);
    await forgetOldEvents(gateway.database, new Date(clock.now().getTime() + 25 * 60 * 60 * 1000));
    expect((await send(caller, "DELETE", `/webhook_sessions/${another.id}`)).status).toBe(404);
  });

  test("that is open does not delay shutdown", async () => {
    const stopped = await startGateway({ settings: { shutdown_timeout_ms: 50_000 } });
    const caller = await stopped.createCaller();
    const headers = { authorization: `Bearer ${caller.key}` };
    const opened = await fetch(`${stopped.baseUrl}/webhook_sessions`, { method: "POST", headers });
    const { id } = (await opened.json()) as { id: string };
    const stream = await fetch(`${stopped.baseUrl}/webhook_sessions/${id}/events`, { headers });
    const startedMs = performance.now();
    await stopped[Symbol.asyncDispose]();
    expect(performance.now() - startedMs).toBeLessThan(45_000);
    expect(await stream.text()).not.toContain("event:");
  });
});

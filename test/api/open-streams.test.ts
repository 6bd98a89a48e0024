import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey, revokeApiKey, updateAccount, updateApiKey } from "../../src/features/accounts/index.ts";
import { bookCredit } from "../../src/features/ledger/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { accountChangeChannels, createAccountChanges } from "../../src/platform/database/account-changes.ts";
import { openChangeFeed } from "../../src/platform/database/change-feed.ts";
import { toDatabaseAddress } from "../../src/platform/database/database.ts";
import { type SiteVisitor, signUpVisitor, siteOrigin, visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

/** Real time, which tests can advance. */
let movedMs = 0;
const clock = {
  now: () => new Date(Date.now() + movedMs),
  monotonicMs: () => performance.now() + movedMs,
};

let sharedDatabase: TestDatabase;
let gateway: TestGateway;
/** A second node, which learns of the first one's changes through the database only. */
let otherNode: TestGateway;

beforeAll(async () => {
  sharedDatabase = await createTestDatabase();
  const settings = { ...visitorSettings, event_streams_max: 3 };
  gateway = await startGateway({ clock, settings, sharedDatabase });
  otherNode = await startGateway({ clock, settings: visitorSettings, sharedDatabase });
});
afterAll(async () => {
  await otherNode[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await sharedDatabase.close();
});

async function listen(prefix: string, headers: Record<string, string>): Promise<Response> {
  const stream = await openStream(prefix, headers);
  expect(stream.status).toBe(200);
  return stream;
}

async function openStream(prefix: string, headers: Record<string, string>): Promise<Response> {
  const opened = await fetch(`${prefix}/webhook_sessions`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{}",
  });
  expect(opened.status).toBe(201);
  const { id } = (await opened.json()) as { id: string };
  return await fetch(`${prefix}/webhook_sessions/${id}/events`, { headers });
}

/** Waits for the end of a stream and returns its reason. */
async function readRefusal(stream: Response): Promise<{ code: string; requestId: string }> {
  const lastEvent = (await stream.text()).trimEnd().split("\n\n").at(-1) ?? "";
  const { error, request_id } = JSON.parse(lastEvent.replace(/^data: /, ""));
  expect(request_id).toBe(stream.headers.get("x-request-id"));
  return error.code;
}

type Caller = Awaited<ReturnType<TestGateway["createCaller"]>>;

describe("an event stream of a key ends on every node when", () => {
  const changes: [string, string, (caller: Caller) => Promise<unknown>][] = [
    ["the key is revoked", "revoked_api_key", ({ keyId }) => revokeApiKey(gateway.parts, keyId)],
    [
      "the account is suspended",
      "account_suspended",
      ({ accountId }) => updateAccount(gateway.parts, accountId, { isSuspended: true }),
    ],
    [
      "the key's scopes no longer include its endpoint",
      "key_not_permitted",
      ({ keyId }) => updateApiKey(gateway.parts, keyId, { endpoints: ["chat"] }),
    ],
    [
      "the key's allowed addresses no longer include its own",
      "key_not_permitted",
      ({ keyId }) => updateApiKey(gateway.parts, keyId, { addresses: ["192.0.2.1"] }),
    ],
  ];

  test.each(changes)("%s", async (_name, code, change) => {
    const caller = await gateway.createCaller();
    const bystander = await gateway.createCaller();
    const authorize = ({ key }: Caller) => ({ authorization: `Bearer ${key}` });
    const streams = await Promise.all([gateway, otherNode].map(({ baseUrl }) => listen(baseUrl, authorize(caller))));
    const others = await listen(gateway.baseUrl, authorize(bystander));
    await change(caller);
    expect(await Promise.all(streams.map(readRefusal))).toEqual([code, code]);
    await revokeApiKey(gateway.parts, bystander.keyId);
    expect(await readRefusal(others)).toBe("revoked_api_key");
  });

  test("the key expires", async () => {
    const caller = await gateway.createCaller({ expiresAt: new Date(clock.now().getTime() + 60_000) });
    const stream = await listen(gateway.baseUrl, { authorization: `Bearer ${caller.key}` });
    movedMs += 60_000;
    expect(await readRefusal(stream)).toBe("expired_api_key");
  });
});

describe("a key", () => {
  test("has at most its limit of open event streams of any kind, and can open another when one has ended", async () => {
    const caller = await gateway.createCaller();
    const bystander = await gateway.createCaller();
    const headers = { authorization: `Bearer ${caller.key}` };
    const streams = await Promise.all([1, 2, 3].map(() => listen(gateway.baseUrl, headers)));
    const refused = await openStream(gateway.baseUrl, headers);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({
      error: { code: "concurrency_limit_exceeded", message: expect.stringContaining("limit of 3 event streams") },
    });
    await streams[0]?.body?.cancel();
    const another = await waitUntil("a place among the streams", async () => {
      const stream = await openStream(gateway.baseUrl, headers);
      if (stream.status === 200) return stream;
      await stream.body?.cancel();
      return null;
    });
    const others = await listen(gateway.baseUrl, { authorization: `Bearer ${bystander.key}` });
    for (const stream of [...streams.slice(1), another, others]) await stream.body?.cancel();
  });
});

describe("an event stream of the console ends on every node when", () => {
  const endings: [string, string, (visitor: SiteVisitor, email: string) => Promise<unknown>][] = [
    ["its session is signed out", "not_signed_in", (visitor) => visitor.post("/sign-out")],
    [
      "the account is suspended",
      "account_suspended",
      async (visitor) => {
        const { account } = (await visitor.get("/session")).body;
        await updateAccount(gateway.parts, account.id, { isSuspended: true });
      },
    ],
  ];

  test.each(endings)("%s", async (_name, code, end) => {
    const { visitor, email } = await signUpVisitor(gateway);
    const headers = { cookie: `sluice-session=${visitor.cookies.get("sluice-session")}`, origin: siteOrigin };
    const streams = await Promise.all(
      [gateway, otherNode].map(({ siteUrl }) => listen(`${siteUrl}/console/api`, headers)),
    );
    await end(visitor, email);
    expect(await Promise.all(streams.map(readRefusal))).toEqual([code, code]);
  });
});

describe("a change stream", () => {
  async function openChanges({ siteUrl }: TestGateway, visitor: SiteVisitor) {
    const cookie = `sluice-session=${visitor.cookies.get("sluice-session")}`;
    const left = new AbortController();
    const response = await fetch(`${siteUrl}/console/api/changes`, { headers: { cookie }, signal: left.signal });
    const stream = { response, text: "", hasEnded: false, leave: () => left.abort() };
    void readInto(stream).catch(() => {});
    return stream;
  }

  async function readInto(stream: { response: Response; text: string; hasEnded: boolean }): Promise<void> {
    const decoder = new TextDecoder();
    for await (const piece of stream.response.body ?? []) stream.text += decoder.decode(piece, { stream: true });
    stream.hasEnded = true;
  }

  /** A process without pages, such as a worker. */
  async function startWorker() {
    const told: string[] = [];
    const address = toDatabaseAddress(sharedDatabase.url);
    const onTrouble = (error: unknown): void => void told.push(String(error));
    const feed = await openChangeFeed({ address, channels: ["callers", ...accountChangeChannels], onTrouble });
    feed.subscribe("account_changes", { onChange: (payload) => told.push(payload), onReset() {} });
    const changes = createAccountChanges({ database: gateway.database, feed, onTrouble });
    return {
      told,
      announce: changes.announce,
      async [Symbol.asyncDispose]() {
        await changes.close();
        await feed.close();
      },
    };
  }

  test("sends an account's changes to its pages on every node, and emits none for an unwatched account", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const accountId: AccountId = (await visitor.get("/session")).body.account.id;
    const { accountId: unwatched } = await gateway.createCaller();
    await using worker = await startWorker();
    const streams = await Promise.all([gateway, otherNode].map((node) => openChanges(node, visitor)));
    const stranger = await openChanges(gateway, (await signUpVisitor(gateway)).visitor);
    const hearing = (kinds: string) =>
      waitUntil(`${kinds} to be heard`, () =>
        streams.every(({ text }) => text.includes(`event: change\ndata: ${kinds}\n\n`)),
      );

    // The node learns of the watchers shortly after the streams have begun.
    await waitUntil("the worker to tell", () => {
      for (const id of [unwatched, accountId]) worker.announce(id, "requests");
      return worker.told.length > 0;
    });
    await hearing('["requests"]');
    await createApiKey({ ...gateway.parts, randomBytes }, { accountId, name: "new" });
    await hearing('["keys"]');
    const booking = { kind: "top-up" as const, amount: nano(5_000_000_000n) };
    await bookCredit(gateway.parts, { accountId, booking, actor: "test", reason: "a test", reference: null });
    await hearing('["balance"]');
    expect(stranger.text).not.toContain("event:");
    stranger.leave();
    expect(worker.told.filter((payload) => !payload.startsWith(`${accountId} `))).toEqual([]);

    await visitor.post("/sign-out");
    await waitUntil("the streams to end", () => streams.every(({ hasEnded }) => hasEnded));
    for (const { text } of streams) expect(text).toContain('"code":"not_signed_in"');
  });

  test("delivers changes in quick succession", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const accountId: AccountId = (await visitor.get("/session")).body.account.id;
    await using worker = await startWorker();
    const stream = await openChanges(gateway, visitor);
    const startedMs = performance.now();
    await waitUntil("the worker to tell", () => {
      worker.announce(accountId, "requests");
      return worker.told.length > 0;
    });
    for (let count = 0; count < 100; count += 1) {
      worker.announce(accountId, "tasks");
      worker.announce(accountId, "balance");
    }
    await waitUntil("the rest", () => worker.told.some((payload) => payload.endsWith(" balance")));
    const passedMs = performance.now() - startedMs;
    expect(worker.told.length).toBeLessThanOrEqual(2 + passedMs / 1000);
    stream.leave();
  });

  test("is rejected when the account has many, and does not delay shutdown", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const streams = await Promise.all(Array.from({ length: 20 }, () => openChanges(otherNode, visitor)));
    expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
    const refused = await openChanges(otherNode, visitor);
    expect(refused.response.status).toBe(429);
    expect(refused.response.headers.get("retry-after")).toBe("60");
    streams[0]?.leave();
    await waitUntil("its place to be free", async () => {
      const next = await openChanges(otherNode, visitor);
      next.leave();
      return next.response.status === 200;
    });
    await otherNode.close();
    await waitUntil("the others to end", () => streams.slice(1).every(({ hasEnded }) => hasEnded));
  });
});

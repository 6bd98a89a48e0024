import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { revokeApiKey, updateAccount, updateApiKey } from "../../src/features/accounts/index.ts";
import { type SiteVisitor, signUpVisitor, siteOrigin, visitorSettings } from "../harness/site/site-visitor.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

/** Real time, moved on by the tests that need it later. */
let movedMs = 0;
const clock = {
  now: () => new Date(Date.now() + movedMs),
  monotonicMs: () => performance.now() + movedMs,
};

let sharedDatabase: TestDatabase;
let gateway: TestGateway;
/** Another node, which hears of what the first one does from the database alone. */
let otherNode: TestGateway;

beforeAll(async () => {
  sharedDatabase = await createTestDatabase();
  gateway = await startGateway({ clock, settings: visitorSettings, sharedDatabase });
  otherNode = await startGateway({ clock, settings: visitorSettings, sharedDatabase });
});
afterAll(async () => {
  await otherNode[Symbol.asyncDispose]();
  await gateway[Symbol.asyncDispose]();
  await sharedDatabase.close();
});

async function listen(prefix: string, headers: Record<string, string>): Promise<Response> {
  const opened = await fetch(`${prefix}/webhook_sessions`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{}",
  });
  expect(opened.status).toBe(201);
  const { id } = (await opened.json()) as { id: string };
  const stream = await fetch(`${prefix}/webhook_sessions/${id}/events`, { headers });
  expect(stream.status).toBe(200);
  return stream;
}

/** Waits for the end of a stream, which tells why it ended. */
async function readRefusal(stream: Response): Promise<{ code: string; requestId: string }> {
  const lastEvent = (await stream.text()).trimEnd().split("\n\n").at(-1) ?? "";
  const { error, request_id } = JSON.parse(lastEvent.replace(/^data: /, ""));
  expect(request_id).toBe(stream.headers.get("x-request-id"));
  return error.code;
}

type Caller = Awaited<ReturnType<TestGateway["createCaller"]>>;

describe("a stream of events that is open with a key ends, on every node, when", () => {
  const changes: [string, string, (caller: Caller) => Promise<unknown>][] = [
    ["the key is revoked", "revoked_api_key", ({ keyId }) => revokeApiKey(gateway.parts, keyId)],
    [
      "the account is suspended",
      "account_suspended",
      ({ accountId }) => updateAccount(gateway.parts, accountId, { isSuspended: true }),
    ],
    [
      "the key may not use its endpoints any more",
      "key_not_permitted",
      ({ keyId }) => updateApiKey(gateway.parts, keyId, { endpoints: ["chat"] }),
    ],
    [
      "the key may not be used from there any more",
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

describe("a stream of events that is open in the console ends, on every node, when", () => {
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

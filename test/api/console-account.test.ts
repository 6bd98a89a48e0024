import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeAccount } from "../../src/app/change-account.ts";
import { createPlan } from "../../src/features/accounts/index.ts";
import { bookCredit, createCodes, voidCode } from "../../src/features/ledger/index.ts";
import { hasListener } from "../../src/features/webhooks/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;
const start = new Date("2026-01-07T12:00:00Z");

let gateway: TestGateway;
const lookEveryMs = 250;

let clock: TestClock;

beforeAll(async () => {
  clock = createTestClock(start);
  gateway = await startGateway({ clock, settings: visitorSettings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function signUp(): Promise<{ visitor: SiteVisitor; accountId: AccountId; email: string }> {
  const { visitor, email } = await signUpVisitor(gateway);
  return { visitor, email, accountId: (await visitor.get("/session")).body.account.id };
}

describe("the account", () => {
  test("is returned with and without a plan", async () => {
    const { visitor, accountId, email } = await signUp();
    const standard = {
      object: "account",
      id: accountId,
      email,
      name: null,
      time_zone: "UTC",
      plan: null,
      limits: {
        requests_per_minute: 600,
        tokens_per_minute: 1_000_000,
        concurrent_requests: 100,
        tasks_in_flight: 50,
      },
      created: start.getTime() / 1000,
    };
    expect(await visitor.get("/account")).toMatchObject({ status: 200, body: standard });
    const quotas = { text: 1000n, image: 20n, video: 30n };
    const limits = { requestsPerMinute: 9, tasksInFlight: 8 };
    await createPlan(gateway.parts, { id: "pro", name: "Pro", limits, period: "week", quotas });
    await changeAccount(gateway.parts, accountId, { planId: "pro", limits: { tasksInFlight: 7 } });
    expect((await visitor.get("/account")).body).toEqual({
      ...standard,
      plan: { id: "pro", name: "Pro", period: "week", quotas: { text: 1000, image: 20, video: 30 } },
      limits: { ...standard.limits, requests_per_minute: 9, tasks_in_flight: 7 },
    });
  });

  test("changes its name and time zone, each alone or both, and returns them as the session does", async () => {
    const { visitor } = await signUp();
    const named = await visitor.patch("/account", { name: "  Ada Lovelace " });
    expect(named).toMatchObject({
      status: 200,
      body: { user: { name: "Ada Lovelace" }, account: { time_zone: "UTC" } },
    });
    expect(named.body).toEqual((await visitor.get("/session")).body);
    const moved = await visitor.patch("/account", { time_zone: "Asia/Kathmandu" });
    expect(moved.body).toMatchObject({ user: { name: "Ada Lovelace" }, account: { time_zone: "Asia/Kathmandu" } });
    // Either name of a zone is accepted; browsers differ in which one they report.
    for (const time_zone of ["Asia/Kolkata", "Asia/Calcutta", "Europe/Berlin"]) {
      expect((await visitor.patch("/account", { time_zone })).body.account.time_zone).toBe(time_zone);
    }
    await visitor.patch("/account", { name: "Ada", time_zone: "UTC" });
    expect((await visitor.get("/account")).body).toMatchObject({ name: "Ada", time_zone: "UTC" });
  });

  test("applies a whole change or none of it, and names the invalid field", async () => {
    const { visitor } = await signUp();
    const refusals: [string | null, object][] = [
      ["name", { name: "" }],
      ["name", { name: "   " }],
      ["name", { name: "x".repeat(101) }],
      ["name", { name: "a\u0000b" }],
      ["time_zone", { time_zone: "Mars/Olympus", name: "Ada" }],
      ["time_zone", { time_zone: "" }],
      ["time_zone", { time_zone: "+05:30" }],
      ["email", { email: "other@example.com" }],
      [null, {}],
    ];
    for (const [param, body] of refusals) {
      expect(await visitor.patch("/account", body)).toMatchObject({ status: 400, body: { error: { param } } });
    }
    expect((await visitor.get("/account")).body).toMatchObject({ name: null, time_zone: "UTC" });
  });

  test("is closed to visitors without a session and to other origins", async () => {
    const anonymous = visitSite(gateway);
    expect((await anonymous.get("/account")).status).toBe(401);
    expect((await anonymous.patch("/account", { name: "x" })).status).toBe(401);
    const { visitor } = await signUp();
    const foreign = await visitor.patch("/account", { name: "x" }, { "sec-fetch-site": "cross-site" });
    expect(foreign).toMatchObject({ status: 403, body: { error: { code: "cross_site_request" } } });
  });
});

describe("a code", () => {
  const gift = {
    kind: "gift",
    amount: nano(7_500_000_000n),
    giftDays: 30,
    note: "",
    expiresAt: null,
    count: 1,
  } as const;

  async function makeCode(terms: object = {}, currency = "USD"): Promise<{ id: string; text: string }> {
    const [made] = await createCodes({ ...gateway.parts, randomBytes, currency }, { ...gift, ...terms });
    return { id: made?.code.id ?? "", text: made?.text ?? "" };
  }

  function redeem(visitor: SiteVisitor, code: unknown) {
    return visitor.post("/codes/redeem", { code });
  }

  /** A code of the right form that does not exist. */
  function guess(): string {
    return randomBytes(20)
      .map((byte) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ".charCodeAt(byte & 31))
      .toString();
  }

  test("adds its credit, and returns the amount and the new balance", async () => {
    const { visitor } = await signUp();
    const { text } = await makeCode();
    const answer = await redeem(visitor, ` ${text.toLowerCase()} `);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      object: "redeemed_code",
      kind: "gift",
      amount: "7.50",
      currency: "USD",
      expires_at: new Date(start.getTime() + 30 * dayMs).toISOString(),
      balance: "7.50",
    });
    const cash = await makeCode({ kind: "cash", giftDays: null, amount: nano(1_000_000_000n) });
    expect((await redeem(visitor, cash.text)).body).toMatchObject({ kind: "cash", expires_at: null, balance: "8.50" });
    const { body } = await visitor.get("/balance");
    expect(body).toMatchObject({ gift_balance: "7.50", cash_balance: "1.00" });
  });

  test("sent many times at once is credited once, and the other requests get an error", async () => {
    const { visitor } = await signUp();
    const { text } = await makeCode();
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(visitor, text)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 200);
    for (const { status, body } of others) {
      expect([status, body.error.code, body.error.param]).toEqual([409, "already_completed", "code"]);
      expect(body.error.message).toMatch(/^You already redeemed this code/);
    }
    expect((await visitor.get("/balance")).body.gift_balance).toBe("7.50");
  });

  test("that is used, voided, expired or in another currency returns that reason", async () => {
    const [first, second] = [await signUp(), await signUp()];
    const used = await makeCode();
    await redeem(first.visitor, used.text);
    const voided = await makeCode();
    await voidCode(gateway.parts, voided.id);
    const over = await makeCode({ expiresAt: new Date(clock.now().getTime() + 1) });
    clock.advance(1);
    const foreign = await makeCode({}, "EUR");
    const sayings: [string, number, RegExp][] = [
      [used.text, 409, /^The code was already redeemed/],
      [voided.text, 400, /voided/],
      [over.text, 400, /expired at/],
      [foreign.text, 400, /in EUR, not in USD/],
    ];
    for (const [text, status, saying] of sayings) {
      const answer = await redeem(second.visitor, text);
      expect(answer).toMatchObject({ status, body: { error: { param: "code" } } });
      expect(answer.body.error.message).toMatch(saying);
    }
    expect((await second.visitor.get("/balance")).body.available_balance).toBe("0.00");
  });

  test("of a wrong form returns the expected form, and does not count as a guess", async () => {
    const { visitor } = await signUp();
    for (const text of [
      "",
      "hello",
      "7KQ2M-X4TRA-9HPVC-E6WN",
      "7KQ2M-X4TRA-9HPVC-E6WNU",
      "7KQ2M-X4TRA-9HPVC-E6WN3-A",
    ]) {
      for (let count = 0; count < 3; count += 1) {
        const answer = await redeem(visitor, text);
        expect(answer).toMatchObject({ status: 400, body: { error: { param: "code" } } });
        expect(answer.body.error.message).toContain("7KQ2M-X4TRA-9HPVC-E6WN3");
      }
    }
    expect((await redeem(visitor, 5)).body.error.param).toBe("code");
    expect((await redeem(visitor, "x".repeat(101))).status).toBe(400);
    expect((await redeem(visitor, (await makeCode()).text)).status).toBe(200);
  });

  test("can be guessed ten times an hour per account from any network; right codes do not count", async () => {
    const { visitor, accountId } = await signUp();
    for (let count = 0; count < 9; count += 1) expect((await redeem(visitor, guess())).status).toBe(404);
    for (let count = 0; count < 3; count += 1) {
      expect((await redeem(visitor, (await makeCode()).text)).status).toBe(200);
    }
    expect((await redeem(visitor, guess())).status).toBe(404);
    const { text } = await makeCode();
    const elsewhere = { "x-forwarded-for": "192.0.2.77" };
    const refused = await visitor.post("/codes/redeem", { code: text }, elsewhere);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: "too_many_attempts" } } });
    expect(Number(refused.headers.get("retry-after"))).toBe(3600);
    clock.advance(hourMs);
    expect((await redeem(visitor, text)).status).toBe(200);
    expect(gateway.logs).toContainEqual(expect.objectContaining({ msg: "code redeemed", account_id: accountId }));
    expect(JSON.stringify(gateway.logs)).not.toContain(text);
  });

  test("can be guessed ten times an hour per network, by any number of accounts", async () => {
    const address = { "x-forwarded-for": "198.51.100.9" };
    const people = [await signUp(), await signUp(), await signUp()];
    const send = (index: number, code: string) =>
      people[index % 2]?.visitor.post("/codes/redeem", { code }, address) ?? Promise.reject(new Error("nobody"));
    for (let count = 0; count < 10; count += 1) expect((await send(count, guess())).status).toBe(404);
    const { text } = await makeCode();
    const refused = await people[2]?.visitor.post("/codes/redeem", { code: text }, address);
    expect(refused?.status).toBe(429);
    expect((await people[2]?.visitor.post("/codes/redeem", { code: text }))?.status).toBe(200);
  });

  test("is closed to visitors without a session", async () => {
    expect((await redeem(visitSite(gateway), guess())).status).toBe(401);
  });
});

describe("the event inbox", () => {
  test("is opened and closed, and counts as a webhook while it is open", async () => {
    const { visitor, accountId } = await signUp();
    const stranger = await signUp();
    const isHeard = () => hasListener(gateway.database, accountId, clock.now());
    const closed = { object: "event_inbox", is_open: false, opened_at: null };
    expect((await visitor.get("/event_inbox")).body).toEqual(closed);
    expect(await isHeard()).toBe(false);
    const opened = { object: "event_inbox", is_open: true, opened_at: clock.now().toISOString() };
    expect(await visitor.post("/event_inbox")).toMatchObject({ status: 200, body: opened });
    clock.advance(1000);
    expect((await visitor.post("/event_inbox")).body).toEqual(opened);
    expect((await visitor.get("/event_inbox")).body).toEqual(opened);
    expect(await isHeard()).toBe(true);
    expect((await stranger.visitor.delete("/event_inbox")).body).toEqual(closed);
    expect((await stranger.visitor.get("/event_inbox")).body).toEqual(closed);
    expect(await isHeard()).toBe(true);
    expect((await visitor.delete("/event_inbox")).body).toEqual(closed);
    expect(await isHeard()).toBe(false);
  });
});

test("the first call is awaited, detected when it is rejected, and detected when it is paid", async () => {
  const { visitor, accountId } = await signUp();
  const read = async () => (await visitor.get("/first_call")).body;
  expect(await read()).toEqual({ object: "first_call", state: "waiting", key_used_at: null, refusal: null });
  // Calls from the console do not count as calls with the account's own keys.
  await visitor.get("/models");
  const { key } = (await visitor.post("/keys", { name: "First key" })).body;
  expect((await read()).state).toBe("waiting");
  const call = () =>
    fetch(`${gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] }),
    });
  expect((await call()).status).toBe(402);
  // Rare enough to stay within the console's own limit, however late the log is on a busy machine.
  await expect
    .poll(read, { interval: lookEveryMs })
    .toMatchObject({ state: "arrived", refusal: { status: 402, code: "insufficient_balance" } });
  const credit = { accountId, actor: "test", reason: "test", reference: null };
  await bookCredit(gateway.parts, { ...credit, booking: { kind: "top-up", amount: nano(1_000_000_000n) } });
  expect((await call()).status).toBe(200);
  // Unlike the charge, a key's use is written shortly after the response.
  await expect
    .poll(read, { interval: lookEveryMs })
    .toMatchObject({ state: "succeeded", key_used_at: clock.now().toISOString() });
});

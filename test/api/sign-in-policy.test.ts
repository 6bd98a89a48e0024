// @module-tag slow
import { afterEach, expect, test } from "vitest";
import { inviteUser } from "../../src/features/site/index.ts";
import type { Settings } from "../../src/platform/config/load-settings.ts";
import { goodPassword, readMail, signUpByMail, visitorSettings, visitSite } from "../harness/site/site-visitor.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";
import { waitUntil } from "../harness/wait-until.ts";

let gateway: TestGateway | null = null;

afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  gateway = null;
});

const clock = createTestClock();
const dayMs = 24 * 60 * 60_000;

async function start(settings: Partial<Settings>): Promise<TestGateway> {
  gateway = await startGateway({ clock, settings: { ...visitorSettings, ...settings } });
  return gateway;
}

async function invite({ parts }: TestGateway, email: string): Promise<string> {
  const randomBytes = (count: number): Uint8Array => crypto.getRandomValues(new Uint8Array(count));
  const { url } = await inviteUser({ ...parts, randomBytes, siteUrl: "http://localhost:4242" }, email);
  expect(new URL(url).searchParams.get("email")).toBe(email);
  return new URL(url).searchParams.get("invite") ?? "";
}

test("with sign-up closed no account can be created, invited or not", async () => {
  const closed = await start({ sign_up: "closed" });
  const visitor = visitSite(closed);
  expect((await visitor.get("/site")).body.sign_up).toBe("closed");
  const token = await invite(closed, "a@example.com");
  for (const extra of [{}, { invite: token }]) {
    const answer = await visitor.post("/sign-up", { email: "a@example.com", password: goodPassword, ...extra });
    expect(answer).toMatchObject({ status: 403, body: { error: { code: "sign_up_closed" } } });
  }
});

test("an invitation lets its address sign up, once", async () => {
  const inviting = await start({ sign_up: "invite" });
  const visitor = visitSite(inviting);
  const token = await invite(inviting, "guest@example.com");
  const signUp = (email: string, extra: object) =>
    visitor.post("/sign-up", { email, password: goodPassword, ...extra });
  expect((await signUp("guest@example.com", {})).body.error.code).toBe("sign_up_closed");
  expect((await signUp("guest@example.com", { invite: "wrong" })).body.error.code).toBe("sign_up_closed");
  const other = await signUp("other@example.com", { invite: token });
  expect(other).toMatchObject({ status: 400, body: { error: { param: "email" } } });

  expect((await signUp("Guest@example.com", { invite: token })).status).toBe(202);
  const mail = await readMail(visitor, "Guest@example.com");
  expect((await visitor.post("/email/verify", { token: mail.token })).status).toBe(200);
  expect((await signUp("guest@example.com", { invite: token })).body.error.code).toBe("sign_up_closed");
});

test("a newer invitation replaces the previous one, and each expires after a week", async () => {
  const inviting = await start({ sign_up: "invite" });
  const visitor = visitSite(inviting);
  const first = await invite(inviting, "guest@example.com");
  const second = await invite(inviting, "guest@example.com");
  const signUp = (token: string) =>
    visitor.post("/sign-up", { email: "guest@example.com", password: goodPassword, invite: token });
  expect((await signUp(first)).status).toBe(403);
  expect((await signUp(second)).status).toBe(202);
  const { token } = await readMail(visitor, "guest@example.com");
  clock.advance(7 * 24 * 60 * 60_000 - 1000);
  expect((await signUp(second)).status).toBe(202);
  clock.advance(1000);
  expect((await signUp(second)).status).toBe(403);
  // A sign-up that began in time creates no account after its invitation has expired.
  const late = await readMail(visitor, "guest@example.com");
  expect(late.token).not.toBe(token);
  expect((await visitor.post("/email/verify", { token: late.token })).body.error.code).toBe("sign_up_closed");
});

test("new accounts get the welcome credit, which expires, up to a daily maximum", async () => {
  const welcoming = await start({ welcome_credit: "2.50", welcome_credit_days: 10, welcome_credits_daily_max: 2 });
  const open = async () => {
    const { visitor } = await signUpByMail(welcoming);
    return { gift: (await visitor.get("/balance")).body.gift_balance, visitor };
  };
  const { gift, visitor } = await open();
  expect(gift).toBe("2.50");
  const { data } = (await visitor.get("/buckets")).body;
  const expiresAt = new Date(clock.now().getTime() + 10 * dayMs).toISOString();
  expect(data).toMatchObject([{ kind: "gift", expires_at: expiresAt }]);
  expect([(await open()).gift, (await open()).gift]).toEqual(["2.50", "0.00"]);
  clock.advance(dayMs);
  expect((await open()).gift).toBe("2.50");
});

test("one mailbox gets the welcome credit once, in any spelling of its address", async () => {
  const welcoming = await start({ welcome_credit: "2.50" });
  const open = async (email: string): Promise<string> => {
    const { visitor } = await signUpByMail(welcoming, email);
    return (await visitor.get("/balance")).body.gift_balance;
  };
  expect(await open("ada.lovelace@gmail.com")).toBe("2.50");
  for (const email of ["adalovelace+2@gmail.com", "a.d.a.lovelace@googlemail.com", "ａdalovelace@gmail.com"]) {
    expect(await open(email), email).toBe("0.00");
  }
  expect(await open("ada@bücher.example")).toBe("2.50");
  expect(await open("Ada+x@xn--bcher-kva.example")).toBe("0.00");
  expect(await open("a.d.a@bücher.example")).toBe("2.50");
});

test("on https the cookie is bound to the host and to encryption, and mails are not there to be read", async () => {
  const secure = await start({ site_url: "https://ai.example.com", sandbox: "off", sign_up: "open" });
  const { openAccount } = await import("../../src/app/change-account.ts");
  const { hashPassword } = await import("../../src/features/site/index.ts");
  const person = { passwordHash: await hashPassword(goodPassword), isEmailVerified: false };
  await openAccount(secure.parts, { email: "ada@example.com", person });
  const visitor = visitSite(secure);
  const headers = { origin: "https://ai.example.com" };
  const answer = await visitor.post("/sign-in", { email: "ada@example.com", password: goodPassword }, headers);
  expect(answer.setCookies).toEqual([
    expect.stringMatching(
      /^__Host-sluice-session=[\w-]{43}; Max-Age=5184000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    ),
  ]);
  expect((await visitor.get("/session")).status).toBe(200);
  const plain = `sluice-session=${visitor.cookies.get("__Host-sluice-session")}`;
  expect((await visitSite(secure).get("/session", { cookie: plain })).status).toBe(401);
  expect((await visitor.get("/site")).body).toMatchObject({ mail: "outbox", has_outbox: false });
  expect((await visitor.get("/outbox")).status).toBe(404);
  expect((await visitor.post("/sign-out")).status).toBe(403);
});

test("expired rows are removed", async () => {
  const sandbox = await start({});
  const visitor = visitSite(sandbox);
  await visitor.post("/sign-up", { email: "old@example.com", password: goodPassword });
  const { token } = await readMail(visitor, "old@example.com");
  await visitor.post("/email/verify", { token });
  await visitor.post("/password/forgot", { email: "old@example.com" });
  const { deleteOldSignIns } = await import("../../src/features/site/index.ts");
  const count = async () => [
    (await sandbox.database.selectFrom("user_sessions").select("id").execute()).length,
    (await sandbox.database.selectFrom("user_tokens").select("kind").execute()).length,
  ];
  // The response to a forgotten password does not wait for the token.
  await waitUntil("the token is written", async () => (await count())[1] === 1);
  await deleteOldSignIns(sandbox.database, clock.now());
  expect(await count()).toEqual([1, 1]);
  clock.advance(60 * 60_000);
  await deleteOldSignIns(sandbox.database, clock.now());
  expect(await count()).toEqual([1, 0]);
  clock.advance(14 * 24 * 60 * 60_000);
  await deleteOldSignIns(sandbox.database, clock.now());
  expect(await count()).toEqual([0, 0]);
});

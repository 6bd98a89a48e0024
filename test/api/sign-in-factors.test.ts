// @module-tag slow
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { holdLock } from "../harness/hold-lock.ts";
import {
  goodPassword,
  readMail,
  type SiteVisitor,
  signUpVisitor,
  siteOrigin,
  visitorSettings,
  visitSite,
} from "../harness/site/site-visitor.ts";
import { createSoftAuthenticator } from "../harness/site/soft-authenticator.ts";
import { readBase32, showTotp } from "../harness/site/totp-app.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const stepMs = 30_000;

let gateway: TestGateway;
let clock: TestClock;

beforeAll(async () => {
  clock = createTestClock();
  gateway = await startGateway({ clock, settings: visitorSettings });
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function isSignedIn(visitor: SiteVisitor): Promise<boolean> {
  return (await visitor.get("/session")).status === 200;
}

async function signIn(email: string, password = goodPassword) {
  const visitor = visitSite(gateway);
  const answer = await visitor.post("/sign-in", { email, password });
  return { visitor, answer };
}

/** A person with an authenticator app. */
async function signUpWithTotp() {
  const { visitor, email } = await signUpVisitor(gateway);
  const offer = (await visitor.post("/totp")).body;
  const secret = readBase32(offer.secret);
  const show = (): string => showTotp(secret, clock.now());
  const confirmed = await visitor.post("/totp/confirm", { code: show() });
  const backupCodes: string[] = confirmed.body.backup_codes;
  clock.advance(stepMs);
  return { visitor, email, offer, show, backupCodes };
}

describe("an authenticator app", () => {
  test("is enabled only after one valid code; then the password alone does not sign in", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const { body: offer } = await visitor.post("/totp");
    expect(offer.uri).toContain(`otpauth://totp/Sluice:${encodeURIComponent(email)}?secret=${offer.secret}`);
    expect((await signIn(email)).answer.body).toEqual({ kind: "signed-in" });
    const wrong = await visitor.post("/totp/confirm", { code: "000000" });
    expect(wrong).toMatchObject({ status: 401, body: { error: { code: "wrong_credentials", param: "code" } } });
    const code = showTotp(readBase32(offer.secret), clock.now());
    const right = await visitor.post("/totp/confirm", { code });
    expect(right.body.backup_codes).toHaveLength(10);
    expect(new Set(right.body.backup_codes).size).toBe(10);
    expect((await visitor.get("/session")).body.user.has_totp).toBe(true);
    const half = await signIn(email);
    expect(half.answer.body).toEqual({ kind: "second-factor", methods: ["totp", "backup-code"] });
    expect(half.answer.setCookies.join()).not.toContain("sluice-session");
    expect(await isSignedIn(half.visitor)).toBe(false);
  });

  test("its code completes the sign-in, once", async () => {
    const { email, show } = await signUpWithTotp();
    const [first, second] = [await signIn(email), await signIn(email)];
    expect((await first.visitor.post("/sign-in/totp", { code: show() })).body).toEqual({ kind: "signed-in" });
    expect(await isSignedIn(first.visitor)).toBe(true);
    const replayed = await second.visitor.post("/sign-in/totp", { code: show() });
    expect(replayed).toMatchObject({ status: 401, body: { error: { code: "wrong_credentials", param: "code" } } });
    clock.advance(stepMs);
    expect((await second.visitor.post("/sign-in/totp", { code: show() })).status).toBe(200);
  });

  test("the code that confirmed it does not sign in", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const secret = readBase32((await visitor.post("/totp")).body.secret);
    const code = showTotp(secret, clock.now());
    await visitor.post("/totp/confirm", { code });
    expect((await (await signIn(email)).visitor.post("/sign-in/totp", { code })).status).toBe(401);
  });

  test("one code sent many times at once signs in once", async () => {
    const { email, show } = await signUpWithTotp();
    const halves = await Promise.all(Array.from({ length: 4 }, () => signIn(email)));
    const answers = await Promise.all(halves.map(({ visitor }) => visitor.post("/sign-in/totp", { code: show() })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("a code half a minute off is accepted, one a minute off is not", async () => {
    const { email, show } = await signUpWithTotp();
    const old = show();
    clock.advance(stepMs);
    expect((await (await signIn(email)).visitor.post("/sign-in/totp", { code: old })).status).toBe(200);
    const older = show();
    clock.advance(2 * stepMs);
    expect((await (await signIn(email)).visitor.post("/sign-in/totp", { code: older })).status).toBe(401);
  });

  test("five wrong codes block it for 15 minutes, for the right one too", async () => {
    const { email, show } = await signUpWithTotp();
    const { visitor } = await signIn(email);
    for (let guess = 0; guess < 5; guess += 1) {
      expect((await visitor.post("/sign-in/totp", { code: "000000" })).status).toBe(401);
    }
    const closed = await visitor.post("/sign-in/totp", { code: show() });
    expect(closed).toMatchObject({ status: 429, body: { error: { code: "too_many_attempts" } } });
    const other = await signIn(email);
    expect((await other.visitor.post("/sign-in/backup-code", { code: "aaaaa-aaaaa" })).status).toBe(429);
  });

  test("the second step of a sign-in works in the first step's browser only, for ten minutes", async () => {
    const { email, show } = await signUpWithTotp();
    const stranger = await visitSite(gateway).post("/sign-in/totp", { code: show() });
    expect(stranger).toMatchObject({ status: 400, body: { error: { code: "invalid_token" } } });
    const { visitor } = await signIn(email);
    clock.advance(10 * minuteMs);
    expect((await visitor.post("/sign-in/totp", { code: show() })).body.error.code).toBe("invalid_token");
  });

  test("a completed sign-in cannot be completed again", async () => {
    const { email, show } = await signUpWithTotp();
    const { visitor } = await signIn(email);
    const factor = visitor.cookies.get("sluice-second-factor") ?? "";
    await visitor.post("/sign-in/totp", { code: show() });
    clock.advance(stepMs);
    const again = visitSite(gateway);
    again.cookies.set("sluice-second-factor", factor);
    expect((await again.post("/sign-in/totp", { code: show() })).body.error.code).toBe("invalid_token");
  });

  test("enabling or disabling it signs out all other sessions and renews this session's token", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const { visitor: other } = await signIn(email);
    const secret = readBase32((await visitor.post("/totp")).body.secret);
    const before = visitor.cookies.get("sluice-session");
    await visitor.post("/totp/confirm", { code: showTotp(secret, clock.now()) });
    expect(visitor.cookies.get("sluice-session")).not.toBe(before);
    expect([await isSignedIn(visitor), await isSignedIn(other)]).toEqual([true, false]);
    expect((await visitor.delete("/totp")).status).toBe(204);
    expect(await isSignedIn(visitor)).toBe(true);
    expect((await signIn(email)).answer.body).toEqual({ kind: "signed-in" });
    expect((await readMail(visitor, email)).mail?.subject).toBe("Two-factor authentication was turned off");
  });

  test("its secret is encrypted in the database", async () => {
    const { offer, email } = await signUpWithTotp();
    const row = await gateway.database
      .selectFrom("users")
      .select(["totp_secret", "totp_secret_waiting"])
      .where("email", "=", email)
      .executeTakeFirstOrThrow();
    expect(row.totp_secret_waiting).toBeNull();
    expect(row.totp_secret?.includes(readBase32(offer.secret))).toBe(false);
  });

  test("changes to it need reauthentication", async () => {
    const { visitor } = await signUpWithTotp();
    clock.advance(10 * minuteMs);
    for (const answer of [
      await visitor.post("/totp"),
      await visitor.post("/totp/confirm", { code: "1" }),
      await visitor.delete("/totp"),
      await visitor.post("/totp/backup-codes"),
    ]) {
      expect(answer.body.error.code).toBe("reauthentication_required");
    }
  });

  test("a person with an app reauthenticates with the password and a code, as at sign-in", async () => {
    const { visitor, show } = await signUpWithTotp();
    clock.advance(10 * minuteMs);
    const prove = (proof: { password?: string; code?: string }) => visitor.post("/reauthenticate", proof);
    expect(await prove({ password: goodPassword })).toMatchObject({
      status: 400,
      body: { error: { code: "missing_parameter", param: "code" } },
    });
    expect(await prove({ code: show() })).toMatchObject({
      status: 400,
      body: { error: { code: "missing_parameter", param: "password" } },
    });
    expect((await prove({ password: "not the password", code: show() })).body.error.param).toBe("password");
    expect((await prove({ password: goodPassword, code: "123456" })).body.error.param).toBe("code");
    expect((await visitor.post("/totp/backup-codes")).body.error.code).toBe("reauthentication_required");
    expect((await prove({ password: goodPassword, code: show() })).status).toBe(200);
    expect((await visitor.post("/totp/backup-codes")).status).toBe(200);
  });
});

describe("backup codes", () => {
  test("each signs in once, in any spelling", async () => {
    const { email, backupCodes } = await signUpWithTotp();
    const typed = ` ${backupCodes[0]?.replace("-", "").toUpperCase()} `;
    const spend = async (code: string) => (await signIn(email)).visitor.post("/sign-in/backup-code", { code });
    expect((await spend(typed)).status).toBe(200);
    expect((await spend(backupCodes[0] ?? "")).status).toBe(401);
    expect((await spend(backupCodes[1] ?? "")).status).toBe(200);
  });

  test("new codes replace the old ones", async () => {
    const { visitor, email, backupCodes } = await signUpWithTotp();
    const renewed = (await visitor.post("/totp/backup-codes")).body.backup_codes;
    const spend = async (code: string) => (await signIn(email)).visitor.post("/sign-in/backup-code", { code });
    expect((await spend(backupCodes[2] ?? "")).status).toBe(401);
    expect((await spend(renewed[0])).status).toBe(200);
  });

  test("do not exist without an authenticator app", async () => {
    const { visitor } = await signUpVisitor(gateway);
    expect((await visitor.post("/totp/backup-codes")).status).toBe(404);
  });
});

describe("a forgotten password", () => {
  test("is reset with a mailed link, once; all sessions end and the old password is invalid", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const helper = visitSite(gateway);
    expect((await helper.post("/password/forgot", { email: email.toUpperCase() })).status).toBe(202);
    const { mail, token } = await readMail(helper, email);
    expect(mail?.subject).toBe("Reset your password");
    const weak = await helper.post("/password/reset", { token, password: "password1" });
    expect(weak).toMatchObject({ status: 400, body: { error: { param: "password" } } });
    expect((await helper.post("/password/reset", { token, password: "five other words now" })).status).toBe(200);
    expect(await isSignedIn(visitor)).toBe(false);
    expect((await helper.post("/password/reset", { token, password: "six other words again" })).status).toBe(400);
    expect((await signIn(email)).answer.status).toBe(401);
    expect((await signIn(email, "five other words now")).answer.status).toBe(200);
  });

  test("the link expires after an hour, and a newer one replaces it", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    await visitor.post("/password/forgot", { email });
    const first = await readMail(visitor, email);
    await visitor.post("/password/forgot", { email });
    const second = await readMail(visitor, email);
    const reset = (token: string) => visitor.post("/password/reset", { token, password: "five other words now" });
    expect((await reset(first.token)).body.error.code).toBe("invalid_token");
    clock.advance(hourMs);
    expect((await reset(second.token)).body.error.code).toBe("invalid_token");
  });

  test("an unknown address gets the same response and no mail", async () => {
    const visitor = visitSite(gateway);
    const answer = await visitor.post("/password/forgot", { email: "none@example.com" });
    expect(answer).toMatchObject({ status: 202, body: { kind: "accepted" } });
    expect((await readMail(visitor, "none@example.com")).mail).toBeNull();
  });

  test("a reset does not bypass the second factor, and cancels a half-finished sign-in", async () => {
    const { email, show } = await signUpWithTotp();
    const { visitor: half } = await signIn(email);
    await half.post("/password/forgot", { email });
    const { token } = await readMail(half, email);
    await half.post("/password/reset", { token, password: "five other words now" });
    expect((await half.post("/sign-in/totp", { code: show() })).body.error.code).toBe("invalid_token");
    expect((await signIn(email, "five other words now")).answer.body.kind).toBe("second-factor");
  });

  test.each([
    ["with a password only", signUpVisitor],
    ["with a second factor", signUpWithTotp],
  ])("a sign-in with the old password during a reset fails: %s", async (_name, signUp) => {
    const { email } = await signUp(gateway);
    const owner = visitSite(gateway);
    await owner.post("/password/forgot", { email });
    const { token } = await readMail(owner, email);
    await using lock = await holdLock(gateway.database, (tx) =>
      tx.selectFrom("users").select("id").where("email", "=", email).forUpdate().execute(),
    );
    const resetting = owner.post("/password/reset", { token, password: "five other words now" });
    await lock.awaited();
    const signingIn = signIn(email);
    await lock.awaited(2);
    await lock.free();
    expect((await resetting).status).toBe(200);
    const { answer, visitor } = await signingIn;
    expect(answer).toMatchObject({ status: 401, body: { error: { code: "wrong_credentials" } }, setCookies: [] });
    expect(await isSignedIn(visitor)).toBe(false);
    expect((await signIn(email, "five other words now")).answer.status).toBe(200);
  });

  test("a link for one purpose does not work for another", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    await visitor.post("/password/forgot", { email });
    const { token } = await readMail(visitor, email);
    expect((await visitor.post("/email/verify", { token })).body.error.code).toBe("invalid_token");
  });
});

describe("changing the password", () => {
  test("takes the current one and a reauthentication; all other sessions end", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const { visitor: other } = await signIn(email);
    const change = (current: string, next: string) =>
      visitor.post("/password", { current_password: current, new_password: next });
    expect((await change("not the password", "five other words now")).body.error.param).toBe("current_password");
    expect((await change(goodPassword, "qwertyuiop")).body.error.param).toBe("new_password");
    expect((await visitor.post("/password", { new_password: "five other words now" })).body.error).toMatchObject({
      code: "missing_parameter",
      param: "current_password",
    });
    const before = visitor.cookies.get("sluice-session");
    expect((await change(goodPassword, "five other words now")).status).toBe(200);
    expect(visitor.cookies.get("sluice-session")).not.toBe(before);
    expect([await isSignedIn(visitor), await isSignedIn(other)]).toEqual([true, false]);
    expect((await signIn(email, "five other words now")).answer.status).toBe(200);
    clock.advance(10 * minuteMs);
    expect((await change("five other words now", goodPassword)).body.error.code).toBe("reauthentication_required");
  });
});

describe("passkeys", () => {
  const site = { origin: siteOrigin, host: "localhost" };

  async function addPasskey(visitor: SiteVisitor, name = "laptop") {
    const authenticator = createSoftAuthenticator(site);
    const { body: options } = await visitor.post("/passkeys/options");
    const added = await visitor.post("/passkeys", { name, response: authenticator.make(options) });
    return { authenticator, added, options };
  }

  async function usePasskey(
    authenticator: ReturnType<typeof createSoftAuthenticator>,
    twist: Parameters<typeof authenticator.use>[1] = {},
  ) {
    const visitor = visitSite(gateway);
    const { body: options } = await visitor.post("/sign-in/passkey/options");
    const response = authenticator.use(options, twist);
    return { visitor, response, answer: await visitor.post("/sign-in/passkey", { response }) };
  }

  test("one signs in without a name or a password, also with a second factor enabled", async () => {
    const { visitor, email } = await signUpWithTotp();
    const { authenticator, added, options } = await addPasskey(visitor);
    expect(options).toMatchObject({
      rp: { id: "localhost", name: "Sluice" },
      user: { name: email },
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    expect(added).toMatchObject({ status: 201, body: { name: "laptop", last_used_at: null } });
    expect((await visitor.get("/session")).body.user.passkey_count).toBe(1);
    const { visitor: signedIn, answer } = await usePasskey(authenticator);
    expect(answer).toMatchObject({ status: 200, body: { kind: "signed-in" } });
    expect((await signedIn.get("/session")).body.user.email).toBe(email);
    expect((await signedIn.get("/passkeys")).body.data).toMatchObject([
      { id: added.body.id, name: "laptop", last_used_at: clock.now().toISOString() },
    ]);
  });

  test("a response to a challenge counts once", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const { authenticator } = await addPasskey(visitor);
    const { visitor: signedIn, response } = await usePasskey(authenticator);
    expect((await signedIn.post("/sign-in/passkey", { response })).body.error.code).toBe("invalid_token");
    await signedIn.post("/sign-in/passkey/options");
    expect((await signedIn.post("/sign-in/passkey", { response })).body.error.code).toBe("wrong_credentials");
  });

  test.each([
    ["from another site", { origin: "https://evil.example" }],
    ["for another host", { host: "evil.example" }],
    ["without user verification", { isUserVerified: false }],
    ["to another challenge", { challenge: "AAAA" }],
    ["with a lower signature count", { signCount: 1 }],
    ["signed with another key", { signer: generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey }],
  ])("a response %s is rejected", async (_name, twist) => {
    const { visitor } = await signUpVisitor(gateway);
    const { authenticator } = await addPasskey(visitor);
    await usePasskey(authenticator);
    const { visitor: refused, answer } = await usePasskey(authenticator, twist);
    expect(answer).toMatchObject({ status: 401, body: { error: { code: "wrong_credentials" } } });
    expect(await isSignedIn(refused)).toBe(false);
  });

  test("an unknown passkey is rejected", async () => {
    const { answer } = await usePasskey(createSoftAuthenticator(site));
    expect(answer.body.error.code).toBe("wrong_credentials");
  });

  test.each([
    ["from another site", { origin: "https://evil.example" }],
    ["without user verification", { isUserVerified: false }],
    ["to another challenge", { challenge: "AAAA" }],
  ])("a response %s adds no passkey", async (_name, twist) => {
    const { visitor } = await signUpVisitor(gateway);
    const authenticator = createSoftAuthenticator(site);
    const { body: options } = await visitor.post("/passkeys/options");
    const answer = await visitor.post("/passkeys", { name: "x", response: authenticator.make(options, twist) });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: "response" } } });
    expect((await visitor.get("/passkeys")).body.data).toEqual([]);
  });

  test("a sign-in challenge, or another person's, adds no passkey", async () => {
    const [one, other] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const authenticator = createSoftAuthenticator(site);
    const signInOptions = (await one.visitor.post("/sign-in/passkey/options")).body;
    const first = await one.visitor.post("/passkeys", { name: "x", response: authenticator.make(signInOptions) });
    expect(first.body.error.code).toBe("invalid_token");
    const options = (await other.visitor.post("/passkeys/options")).body;
    one.visitor.cookies.set("sluice-passkey", other.visitor.cookies.get("sluice-passkey") ?? "");
    const second = await one.visitor.post("/passkeys", { name: "x", response: authenticator.make(options) });
    expect(second.body.error.code).toBe("invalid_token");
  });

  test("a challenge expires after five minutes", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const { authenticator } = await addPasskey(visitor);
    const late = visitSite(gateway);
    const { body: options } = await late.post("/sign-in/passkey/options");
    clock.advance(5 * minuteMs);
    const answer = await late.post("/sign-in/passkey", { response: authenticator.use(options) });
    expect(answer.body.error.code).toBe("invalid_token");
  });

  test("the same passkey is added once; a removed one no longer signs in; another account's is not found", async () => {
    const [one, other] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const { authenticator, added } = await addPasskey(one.visitor);
    const options = (await other.visitor.post("/passkeys/options")).body;
    const twice = await other.visitor.post("/passkeys", { name: "x", response: authenticator.make(options) });
    expect(twice.status).toBe(400);
    expect((await other.visitor.delete(`/passkeys/${added.body.id}`)).status).toBe(404);
    expect((await one.visitor.delete(`/passkeys/${added.body.id}`)).status).toBe(204);
    expect((await usePasskey(authenticator)).answer.status).toBe(401);
  });

  test("adding and removing need reauthentication, also with the person's own passkey", async () => {
    const [one, other] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const { authenticator, added } = await addPasskey(one.visitor);
    const foreign = await addPasskey(other.visitor);
    clock.advance(10 * minuteMs);
    for (const answer of [
      await one.visitor.post("/passkeys/options"),
      await one.visitor.delete(`/passkeys/${added.body.id}`),
    ]) {
      expect(answer.body.error.code).toBe("reauthentication_required");
    }
    const prove = async (owner: typeof authenticator) => {
      const { body: options } = await one.visitor.post("/sign-in/passkey/options");
      return await one.visitor.post("/reauthenticate", { passkey: owner.use(options) });
    };
    expect((await prove(foreign.authenticator)).status).toBe(401);
    expect((await prove(authenticator)).status).toBe(200);
    expect((await one.visitor.delete(`/passkeys/${added.body.id}`)).status).toBe(204);
  });

  test.each([
    [{ name: "", response: {} }, "name"],
    [{ name: "   ", response: {} }, "name"],
    [
      { name: "x", response: { id: "a", rawId: "a", type: "password", response: {} } },
      "response.response.clientDataJSON",
    ],
  ])("%j is rejected with the field at fault", async (body, param) => {
    const { visitor } = await signUpVisitor(gateway);
    const { status, body: answer } = await visitor.post("/passkeys", body);
    expect([status, answer.error.param?.split(".")[0]]).toEqual([400, param.split(".")[0]]);
  });
});

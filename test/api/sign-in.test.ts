// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  goodPassword,
  readMail,
  type SiteVisitor,
  signUpVisitor,
  siteOrigin,
  visitorSettings,
  visitSite,
} from "../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

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

describe("signing up", () => {
  test("an account exists only after its address is verified, and the link then signs in", async () => {
    const visitor = visitSite(gateway);
    const answer = await visitor.post("/sign-up", { email: "Ada@example.com", password: goodPassword });
    expect(answer).toMatchObject({ status: 202, body: { kind: "verify-email" } });
    const count = () => gateway.database.selectFrom("accounts").select("id").where("email", "=", "Ada@example.com");
    expect(await count().execute()).toEqual([]);
    const { mail, token } = await readMail(visitor, "Ada@example.com");
    expect(mail).toMatchObject({ subject: "Confirm your e-mail address" });
    expect(await visitor.post("/email/verify", { token })).toMatchObject({ status: 200, body: { kind: "signed-in" } });
    expect((await visitor.get("/session")).body).toMatchObject({
      user: {
        email: "Ada@example.com",
        is_email_verified: true,
        has_password: true,
        has_totp: false,
        passkey_count: 0,
      },
      account: { id: expect.stringMatching(/^acct_/), time_zone: "UTC" },
      session: { id: expect.stringMatching(/^ses_/) },
    });
    expect(await count().execute()).toHaveLength(1);
  });

  test("a link works once", async () => {
    const visitor = visitSite(gateway);
    await visitor.post("/sign-up", { email: "once@example.com", password: goodPassword });
    const { token } = await readMail(visitor, "once@example.com");
    await visitor.post("/email/verify", { token });
    const second = await visitor.post("/email/verify", { token });
    expect(second).toMatchObject({ status: 400, body: { error: { code: "invalid_token", param: "token" } } });
  });

  test("a link opened many times at once creates one account", async () => {
    const visitor = visitSite(gateway);
    await visitor.post("/sign-up", { email: "burst@example.com", password: goodPassword });
    const { token } = await readMail(visitor, "burst@example.com");
    const answers = await Promise.all(Array.from({ length: 8 }, () => visitor.post("/email/verify", { token })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("a link expires after a day", async () => {
    const visitor = visitSite(gateway);
    await visitor.post("/sign-up", { email: "late@example.com", password: goodPassword });
    const { token } = await readMail(visitor, "late@example.com");
    clock.advance(dayMs);
    expect((await visitor.post("/email/verify", { token })).body.error.code).toBe("invalid_token");
  });

  test("in another browser the link also needs the sign-up's password", async () => {
    const [signer, other] = [visitSite(gateway), visitSite(gateway)];
    await signer.post("/sign-up", { email: "moved@example.com", password: goodPassword });
    const { token } = await readMail(signer, "moved@example.com");
    const bare = await other.post("/email/verify", { token });
    expect(bare).toMatchObject({ status: 401, body: { error: { code: "wrong_credentials", param: "password" } } });
    const wrong = await other.post("/email/verify", { token, password: "another password" });
    expect(wrong).toMatchObject({ status: 401, body: { error: { param: "password" } } });
    expect(await isSignedIn(other)).toBe(false);
    expect((await other.post("/email/verify", { token, password: goodPassword })).status).toBe(200);
    expect(await isSignedIn(other)).toBe(true);
  });

  test("a known address gets the same response, and a mail that says so", async () => {
    const { email } = await signUpVisitor(gateway);
    const visitor = visitSite(gateway);
    const known = await visitor.post("/sign-up", { email: email.toUpperCase(), password: goodPassword });
    const unknown = await visitSite(gateway).post("/sign-up", { email: "new@example.com", password: goodPassword });
    expect(known.status).toBe(unknown.status);
    expect(known.body).toEqual(unknown.body);
    const shape = (cookies: string[]): string[] => cookies.map((line) => line.replace(/=[\w-]{43};/, "=…;"));
    expect(shape(known.setCookies)).toEqual(shape(unknown.setCookies));
    const { mail } = await readMail(visitor, email.toUpperCase());
    expect(mail?.subject).toBe("You already have an account");
  });

  test("the mail can be sent again, and then only the newer link works", async () => {
    const visitor = visitSite(gateway);
    await visitor.post("/sign-up", { email: "again@example.com", password: goodPassword });
    const first = await readMail(visitor, "again@example.com");
    const again = await visitor.post("/email/resend", { email: "again@example.com" });
    expect(again).toMatchObject({ status: 202, body: { kind: "accepted" } });
    const second = await readMail(visitor, "again@example.com");
    expect(second.token).not.toBe(first.token);
    expect((await visitor.post("/email/verify", { token: first.token })).status).toBe(400);
    expect((await visitor.post("/email/verify", { token: second.token })).status).toBe(200);
  });

  test("no mail is sent without a pending sign-up, and the response is the same", async () => {
    const visitor = visitSite(gateway);
    expect((await visitor.post("/email/resend", { email: "nobody@example.com" })).status).toBe(202);
    expect((await readMail(visitor, "nobody@example.com")).mail).toBeNull();
  });

  test.each([
    [{ email: "no address", password: goodPassword }, "email"],
    [{ email: "a@b@c", password: goodPassword }, "email"],
    [{ email: 'x"y@example.com', password: goodPassword }, "email"],
    [{ email: "a@example.com\nbcc: b@example.com", password: goodPassword }, "email"],
    [{ email: "ok@example.com", password: "short" }, "password"],
    [{ email: "ok@example.com", password: "x".repeat(257) }, "password"],
    [{ email: "ok@example.com", password: "Password123!" }, "password"],
    [{ email: "ok@example.com", password: "aaaaaaaaaaaa" }, "password"],
    [{ email: "ok@example.com", password: "123456789" }, "password"],
    [{ email: "lovelace@example.com", password: "lovelace2026" }, "password"],
    [{ email: "ok@example.com" }, "password"],
    [{ email: "ok@example.com", password: goodPassword, role: "admin" }, "role"],
  ])("%j is rejected with the field at fault", async (body, param) => {
    const answer = await visitSite(gateway).post("/sign-up", body);
    expect(answer).toMatchObject({ status: 400, body: { error: { param } } });
  });
});

describe("signing in with a password", () => {
  test("the right password opens a session with a cookie that scripts and other sites cannot use", async () => {
    const { email } = await signUpVisitor(gateway);
    const visitor = visitSite(gateway);
    const answer = await visitor.post("/sign-in", { email: email.toUpperCase(), password: goodPassword });
    expect(answer).toMatchObject({ status: 200, body: { kind: "signed-in" } });
    expect(answer.setCookies).toHaveLength(1);
    expect(answer.setCookies[0]).toMatch(
      /^sluice-session=[\w-]{43}; Max-Age=5184000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(await isSignedIn(visitor)).toBe(true);
  });

  test("a wrong password and an unknown address get the same error", async () => {
    const { email } = await signUpVisitor(gateway);
    const wrong = await visitSite(gateway).post("/sign-in", { email, password: "not the password" });
    const unknown = await visitSite(gateway).post("/sign-in", { email: "who@example.com", password: goodPassword });
    expect(wrong.status).toBe(401);
    expect(wrong.body.error).toEqual(unknown.body.error);
    expect(wrong.body.error).toMatchObject({ code: "wrong_credentials", param: null });
  });

  test("a pending sign-up is reported only with the right password", async () => {
    const visitor = visitSite(gateway);
    await visitor.post("/sign-up", { email: "waiting@example.com", password: goodPassword });
    await readMail(visitor, "waiting@example.com");
    const right = await visitor.post("/sign-in", { email: "waiting@example.com", password: goodPassword });
    expect(right).toMatchObject({ status: 200, body: { kind: "verify-email" }, setCookies: [] });
    const wrong = await visitor.post("/sign-in", { email: "waiting@example.com", password: "not the password" });
    expect(wrong.status).toBe(401);
  });

  test("the database contains only hashes of tokens", async () => {
    const { visitor } = await signUpVisitor(gateway);
    await visitor.post("/sign-up", { email: "hashed@example.com", password: goodPassword });
    const { token } = await readMail(visitor, "hashed@example.com");
    const dump = JSON.stringify(
      await Promise.all([
        gateway.database.selectFrom("user_sessions").selectAll().execute(),
        gateway.database.selectFrom("user_tokens").selectAll().execute(),
        gateway.database.selectFrom("users").selectAll().execute(),
      ]),
      (_name, value) => (typeof value === "bigint" ? String(value) : value),
    );
    for (const secret of [visitor.cookies.get("sluice-session") ?? "", token, goodPassword]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(dump).not.toContain(secret);
      expect(dump).not.toContain(JSON.stringify([...Buffer.from(secret)]).slice(1, -1));
    }
  });

  test("signing in again ends the browser's earlier session and issues a new token", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const before = visitor.cookies.get("sluice-session") ?? "";
    await visitor.post("/sign-in", { email, password: goodPassword });
    expect(visitor.cookies.get("sluice-session")).not.toBe(before);
    const thief = visitSite(gateway);
    thief.cookies.set("sluice-session", before);
    expect(await isSignedIn(thief)).toBe(false);
    expect((await visitor.get("/sessions")).body.data).toHaveLength(1);
  });

  test("a planted cookie never becomes a session", async () => {
    const { email } = await signUpVisitor(gateway);
    const visitor = visitSite(gateway);
    visitor.cookies.set("sluice-session", "planted-by-somebody-else-0123456789abcdefgh");
    await visitor.post("/sign-in", { email, password: goodPassword });
    expect(visitor.cookies.get("sluice-session")).not.toContain("planted");
  });

  test("two cookies with the session's name are ignored, because either could be planted", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const mine = visitor.cookies.get("sluice-session") ?? "";
    for (const cookie of [`sluice-session=x; sluice-session=${mine}`, `sluice-session=${mine}; sluice-session=x`]) {
      expect((await visitSite(gateway).get("/session", { cookie })).status).toBe(401);
    }
    expect((await visitSite(gateway).get("/session", { cookie: `sluice-session=${mine}` })).status).toBe(200);
  });
});

describe("guessing passwords", () => {
  test("ten wrong guesses from one network block that person there for 15 minutes", async () => {
    const { email } = await signUpVisitor(gateway);
    const guesser = visitSite(gateway);
    for (let guess = 0; guess < 10; guess += 1) {
      expect((await guesser.post("/sign-in", { email, password: `wrong ${guess}` })).status).toBe(401);
    }
    const closed = await guesser.post("/sign-in", { email, password: goodPassword });
    expect(closed).toMatchObject({ status: 429, body: { error: { code: "too_many_attempts" } } });
    expect(Number(closed.headers.get("retry-after"))).toBeGreaterThan(14 * 60);
    // The owner on another network is not locked out.
    expect((await visitSite(gateway).post("/sign-in", { email, password: goodPassword })).status).toBe(200);
    clock.advance(15 * minuteMs);
    expect((await guesser.post("/sign-in", { email, password: goodPassword })).status).toBe(200);
  });

  test("concurrent guesses count too", async () => {
    const { email } = await signUpVisitor(gateway);
    const guesser = visitSite(gateway);
    const guesses = Array.from({ length: 15 }, (_, number) => ({ email, password: `wrong ${number}` }));
    const answers = await Promise.all(guesses.map((guess) => guesser.post("/sign-in", guess)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
  });

  test("an unknown address is blocked in the same way", async () => {
    const guesser = visitSite(gateway);
    const ask = () => guesser.post("/sign-in", { email: "ghost@example.com", password: "wrong wrong" });
    for (let guess = 0; guess < 10; guess += 1) await ask();
    expect((await ask()).status).toBe(429);
  });

  test("right passwords are not counted", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    for (let time = 0; time < 12; time += 1) {
      expect((await visitor.post("/sign-in", { email, password: goodPassword })).status).toBe(200);
    }
  });

  test("one network gets fifty guesses for all persons together", async () => {
    const guesser = visitSite(gateway);
    const guess = (number: number) => guesser.post("/sign-in", { email: `p${number}@example.com`, password: "wrong!" });
    const answers = await Promise.all(Array.from({ length: 52 }, (_, number) => guess(number)));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
  });

  test("a person gets at most five mails an hour from one network", async () => {
    const { email } = await signUpVisitor(gateway);
    const asker = visitSite(gateway);
    for (let time = 0; time < 5; time += 1) {
      expect((await asker.post("/password/forgot", { email })).status).toBe(202);
    }
    expect((await asker.post("/password/forgot", { email })).status).toBe(429);
    clock.advance(hourMs);
    expect((await asker.post("/password/forgot", { email })).status).toBe(202);
  });
});

describe("sessions", () => {
  test("signing out ends the session on the server too", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const token = visitor.cookies.get("sluice-session") ?? "";
    const answer = await visitor.post("/sign-out");
    expect(answer.status).toBe(204);
    expect(answer.setCookies[0]).toMatch(/^sluice-session=; Max-Age=0;/);
    expect((await visitSite(gateway).get("/session", { cookie: `sluice-session=${token}` })).status).toBe(401);
    expect((await visitor.post("/sign-out")).status).toBe(204);
  });

  test("are listed with their details, and ended one by one or all but the current one", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    const others = [visitSite(gateway, { address: "10.9.8.7", userAgent: "Phone" }), visitSite(gateway)];
    for (const other of others) await other.post("/sign-in", { email, password: goodPassword });
    const { body } = await visitor.get("/sessions");
    expect(body.data).toHaveLength(3);
    expect(body.data.filter((session: { is_current: boolean }) => session.is_current)).toHaveLength(1);
    const phone = body.data.find((session: { user_agent: string }) => session.user_agent === "Phone");
    expect(phone).toMatchObject({ address: "10.9.8.7", is_current: false });
    expect((await visitor.delete(`/sessions/${phone.id}`)).status).toBe(204);
    expect(await Promise.all(others.map(isSignedIn))).toEqual([false, true]);
    expect((await visitor.delete("/sessions")).status).toBe(204);
    expect(await Promise.all([visitor, ...others].map(isSignedIn))).toEqual([true, false, false]);
  });

  test("another account's session is not found", async () => {
    const [one, other] = [await signUpVisitor(gateway), await signUpVisitor(gateway)];
    const { id } = (await other.visitor.get("/session")).body.session;
    expect((await one.visitor.delete(`/sessions/${id}`)).body.error.code).toBe("not_found");
    expect(await isSignedIn(other.visitor)).toBe(true);
  });

  test("an unused session ends after 14 days", async () => {
    const { visitor } = await signUpVisitor(gateway);
    clock.advance(14 * dayMs - minuteMs);
    expect(await isSignedIn(visitor)).toBe(true);
    clock.advance(14 * dayMs);
    expect(await isSignedIn(visitor)).toBe(false);
  });

  test("a session in use ends after 60 days", async () => {
    const { visitor } = await signUpVisitor(gateway);
    for (let week = 0; week < 8; week += 1) {
      clock.advance(7 * dayMs);
      expect(await isSignedIn(visitor)).toBe(true);
    }
    clock.advance(4 * dayMs);
    expect(await isSignedIn(visitor)).toBe(false);
  });

  test("a reauthentication lasts ten minutes, and can be repeated", async () => {
    const { visitor } = await signUpVisitor(gateway);
    expect((await visitor.post("/totp")).status).toBe(200);
    clock.advance(10 * minuteMs);
    const stale = await visitor.post("/totp");
    expect(stale).toMatchObject({ status: 403, body: { error: { code: "reauthentication_required" } } });
    const wrong = await visitor.post("/reauthenticate", { password: "not the password" });
    expect(wrong).toMatchObject({ status: 401, body: { error: { param: "password" } } });
    const before = visitor.cookies.get("sluice-session") ?? "";
    const proven = await visitor.post("/reauthenticate", { password: goodPassword });
    expect(proven.body).toEqual({ fresh_until: new Date(clock.now().getTime() + 10 * minuteMs).toISOString() });
    expect((await visitor.post("/totp")).status).toBe(200);
    // A request from another tab sent just before is answered, but proves nothing.
    const late = visitSite(gateway);
    late.cookies.set("sluice-session", before);
    expect(await isSignedIn(late)).toBe(true);
    expect((await late.post("/totp")).body.error.code).toBe("reauthentication_required");
    clock.advance(10_000);
    expect([await isSignedIn(late), await isSignedIn(visitor)]).toEqual([false, true]);
  });

  test("requests with the previous token are rejected after a password change", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const late = visitSite(gateway);
    late.cookies.set("sluice-session", visitor.cookies.get("sluice-session") ?? "");
    await visitor.post("/reauthenticate", { password: goodPassword });
    expect(await isSignedIn(late)).toBe(true);
    const change = { current_password: goodPassword, new_password: "another good one 42" };
    expect((await visitor.post("/password", change)).status).toBeLessThan(300);
    expect([await isSignedIn(late), await isSignedIn(visitor)]).toEqual([false, true]);
  });

  test.each([{}, { code: "123456" }])("a proof of %j is rejected for a person with a password", async (body) => {
    const { visitor } = await signUpVisitor(gateway);
    expect(await visitor.post("/reauthenticate", body)).toMatchObject({
      status: 400,
      body: { error: { code: "missing_parameter", param: "password" } },
    });
  });
});

describe("the edge of the console API", () => {
  test.each([
    ["another site's page", { origin: "https://evil.example" }],
    ["a page of another port", { origin: "http://localhost:4243" }],
    ["a page without an origin", { origin: "null" }],
    ["another site's page with a forged origin", { "sec-fetch-site": "cross-site" }],
    ["a page of a subdomain", { "sec-fetch-site": "same-site" }],
    ["a typed address", { "sec-fetch-site": "none" }],
  ])("%s cannot change anything", async (_name, headers) => {
    const { visitor } = await signUpVisitor(gateway);
    for (const answer of [await visitor.post("/sign-out", {}, headers), await visitor.delete("/sessions", headers)]) {
      expect(answer).toMatchObject({ status: 403, body: { error: { code: "cross_site_request" } } });
    }
    expect(await isSignedIn(visitor)).toBe(true);
  });

  test("a request without an origin changes nothing", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const headers = { "content-type": "application/json" };
    expect((await visitor.send("POST", "/sign-out", { body: "{}", headers })).status).toBe(403);
    expect((await visitor.send("DELETE", "/sessions", {})).status).toBe(403);
  });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonx",
  ])("a form's content type %s is rejected", async (type) => {
    const { visitor } = await signUpVisitor(gateway);
    const answer = await visitor.post("/sign-out", {}, { "content-type": type });
    expect(answer).toMatchObject({ status: 415, body: { error: { code: "unsupported_media_type" } } });
  });

  test("a POST without the JSON content type is rejected, also without a body", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const answer = await visitor.send("POST", "/sign-out", { headers: { origin: siteOrigin } });
    expect(answer).toMatchObject({ status: 415, body: { error: { param: "Content-Type" } } });
  });

  test("a body of more than 64 KiB is rejected", async () => {
    const password = "x".repeat(70_000);
    expect((await visitSite(gateway).post("/sign-in", { email: "a@b", password })).status).toBe(413);
  });

  test("responses are not cached, not sniffed and not readable by other sites", async () => {
    for (const path of ["/site", "/session", "/sessions", "/openapi.json"]) {
      const { headers } = await visitSite(gateway).get(path, { origin: "https://evil.example" });
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(headers.get("x-request-id")).toMatch(/^req_/);
    }
  });

  test("every route except sign-in needs a session", async () => {
    const visitor = visitSite(gateway);
    const document = (await visitor.get("/openapi.json")).body;
    const open = new Set([
      ...[
        "get /site",
        "get /outbox",
        "post /outbox/open",
        "post /sign-up",
        "post /email/verify",
        "post /email/resend",
        "post /sign-in",
      ],
      ...["post /sign-in/totp", "post /sign-in/backup-code", "post /sign-in/passkey/options", "post /sign-in/passkey"],
      ...[
        "post /sign-out",
        "post /password/forgot",
        "post /password/reset",
        "get /showcase",
        "get /status",
        "get /uptime",
      ],
    ]);
    const forms = new Set(
      ["/files", "/images/edits", "/audio/transcriptions", "/audio/translations"].map((path) => `post ${path}`),
    );
    const operations = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method, path] as const),
    );
    expect(operations.length).toBeGreaterThan(20);
    for (const [method, path] of operations) {
      const isForm = forms.has(`${method} ${path}`);
      const type = isForm ? "multipart/form-data; boundary=x" : "application/json";
      const hasBody = method === "post" || method === "patch";
      const headers = { origin: siteOrigin, ...(hasBody ? { "content-type": type } : {}) };
      const body = hasBody ? { body: "{}" } : {};
      const answer = await visitor.send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x"), { headers, ...body });
      const asks = answer.status === 401 && answer.body.error.code === "not_signed_in";
      expect([method, path, asks]).toEqual([method, path, !open.has(`${method} ${path}`)]);
    }
  });

  test("a session cookie does not authenticate API calls", async () => {
    const { visitor } = await signUpVisitor(gateway);
    const cookie = `sluice-session=${visitor.cookies.get("sluice-session")}`;
    const response = await fetch(`${gateway.baseUrl}/models`, { headers: { cookie } });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: "missing_api_key" } });
  });

  test("one address gets 600 requests a minute", async () => {
    const visitor = visitSite(gateway);
    const answers = await Promise.all(Array.from({ length: 610 }, () => visitor.get("/site")));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(10);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });

  test("the outbox needs its secret, which the gateway prints at start", async () => {
    const stranger = visitSite(gateway);
    expect(await stranger.get("/outbox")).toMatchObject({
      status: 401,
      body: { error: { code: "wrong_credentials", param: "secret" } },
    });
    expect((await stranger.get("/outbox", { cookie: "sluice-outbox=guessed" })).status).toBe(401);
    expect((await stranger.post("/outbox/open", { secret: "guessed" })).body.error.code).toBe("wrong_credentials");
    expect(stranger.cookies.size).toBe(0);
    const secret = new URL(gateway.outboxUrl ?? "").hash.slice(1);
    expect(secret).toMatch(/^[\w-]{32}$/);
    const opened = await stranger.post("/outbox/open", { secret });
    expect(opened.setCookies).toEqual([
      expect.stringMatching(/^sluice-outbox=[\w-]{32}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await stranger.get("/outbox")).status).toBe(200);
  });

  test("the outbox accepts only local host names", async () => {
    const { request } = await import("node:http");
    const status = await new Promise((settle) => {
      const headers = {
        host: "evil.example",
        cookie: `sluice-outbox=${new URL(gateway.outboxUrl ?? "").hash.slice(1)}`,
      };
      request({ host: "127.0.0.1", port: gateway.port, path: "/console/api/outbox", headers }, (response) => {
        response.resume();
        settle(response.statusCode);
      }).end();
    });
    expect(status).toBe(404);
  });
});

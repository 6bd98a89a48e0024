import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type OidcServer, type OidcTwist, startOidcServer } from "../../harness/servers/oidc-server.ts";
import {
  goodPassword,
  readMail,
  type SiteVisitor,
  signUpVisitor,
  visitorSettings,
  visitSite,
} from "../../harness/site/site-visitor.ts";
import { createTestClock, type TestClock } from "../../harness/test-clock.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";

const path = "/sign-in/provider/example";

let provider: OidcServer;
let gateway: TestGateway;
let clock: TestClock;
let personNumber = 0;

async function startWith(extra: object = {}): Promise<TestGateway> {
  const { issuer, clientId: client_id, clientSecret: client_secret } = provider;
  const oidc = [{ id: "example", name: "Example", issuer, client_id, client_secret }];
  return await startGateway({ clock, settings: { ...visitorSettings, oidc, ...extra } });
}

beforeAll(async () => {
  clock = createTestClock();
  provider = await startOidcServer(clock);
  gateway = await startWith();
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(() => {
  personNumber += 1;
  provider.person = { sub: `person-${personNumber}`, email: `p${personNumber}@example.com`, email_verified: true };
  provider.twist = {};
});

/** From our link to the provider, through its page, and back. */
async function goThrough(visitor: SiteVisitor, next = "/console", change: (back: URL) => void = () => {}) {
  const begun = await visitor.get(`${path}?next=${encodeURIComponent(next)}`);
  expect(begun.status).toBe(303);
  const back = await provider.approve(begun.headers.get("location") ?? "");
  change(back);
  return await visitor.get(`${path}/callback${back.search}`);
}

async function readEmail(visitor: SiteVisitor): Promise<string | null> {
  const { status, body } = await visitor.get("/session");
  return status === 200 ? body.user.email : null;
}

describe("a user of the provider", () => {
  test("gets an account the first time and is the same user the second time", async () => {
    provider.person.name = "Ada";
    const first = visitSite(gateway);
    const answer = await goThrough(first, "/security?tab=keys");
    expect(answer).toMatchObject({ status: 303 });
    expect(answer.headers.get("location")).toBe("/security?tab=keys");
    const { body } = await first.get("/session");
    expect(body.user).toMatchObject({
      email: provider.person.email,
      name: "Ada",
      is_email_verified: true,
      has_password: false,
    });
    // The e-mail address at the provider may change; the identity does not.
    provider.person.email = "moved@example.com";
    const second = visitSite(gateway);
    await goThrough(second);
    expect((await second.get("/session")).body.account.id).toBe(body.account.id);
  });

  test("is redirected there with a unique state and nonce that match no other answer", async () => {
    const { headers, setCookies } = await visitSite(gateway).get(path);
    const location = new URL(headers.get("location") ?? "");
    expect(`${location.origin}${location.pathname}`).toBe(`${provider.issuer}/authorize`);
    expect(Object.fromEntries(location.searchParams)).toEqual({
      response_type: "code",
      client_id: provider.clientId,
      redirect_uri: "http://localhost:4242/console/api/sign-in/provider/example/callback",
      scope: "openid email profile",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(setCookies[0]).toMatch(/^sluice-provider=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test.each([
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/.//evil.example",
    "javascript:alert(1)",
    "",
  ])("is redirected to a page of this site, never to %j", async (next) => {
    const answer = await goThrough(visitSite(gateway), next);
    expect(answer.headers.get("location")).toBe("/console");
  });

  test("can sign in after the provider has rotated its keys", async () => {
    await goThrough(visitSite(gateway));
    provider.rotateKeys();
    clock.advance(11_000);
    const visitor = visitSite(gateway);
    await goThrough(visitor);
    expect(await readEmail(visitor)).toBe(provider.person.email);
  });
});

describe("an answer of the provider", () => {
  const nowSeconds = (): number => Math.floor(clock.now().getTime() / 1000);
  const twists: [string, () => OidcTwist][] = [
    ["to another question", () => ({ claims: { nonce: "another" } })],
    ["without a question", () => ({ claims: { nonce: undefined } })],
    ["of another issuer", () => ({ claims: { iss: "https://evil.example" } })],
    ["for another site", () => ({ claims: { aud: "another" } })],
    ["for several sites, without saying which asked", () => ({ claims: { aud: ["sluice-test", "another"] } })],
    ["that another site asked for", () => ({ claims: { aud: ["sluice-test", "another"], azp: "another" } })],
    ["that has expired", () => ({ claims: { iat: nowSeconds() - 900, exp: nowSeconds() - 600 } })],
    ["without an end", () => ({ claims: { exp: undefined } })],
    ["without a subject", () => ({ claims: { sub: undefined } })],
    ["signed by another key", () => ({ isSignedByAnother: true })],
    ["without a signature", () => ({ header: { alg: "none" }, isUnsigned: true })],
    ["signed by a shared secret", () => ({ header: { alg: "HS256" } })],
  ];

  test.each(twists)("%s signs no user in, and is reported on a page", async (_name, twist) => {
    provider.twist = twist();
    const visitor = visitSite(gateway);
    const answer = await goThrough(visitor);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("content-type")).toContain("text/html");
    expect(await readEmail(visitor)).toBeNull();
    expect(JSON.stringify(gateway.logs.at(-1))).not.toContain("eyJ");
  });

  test("is accepted once", async () => {
    const visitor = visitSite(gateway);
    const begun = await visitor.get(path);
    const cookie = visitor.cookies.get("sluice-provider") ?? "";
    const back = await provider.approve(begun.headers.get("location") ?? "");
    expect((await visitor.get(`${path}/callback${back.search}`)).status).toBe(303);
    const thief = visitSite(gateway);
    thief.cookies.set("sluice-provider", cookie);
    expect((await thief.get(`${path}/callback${back.search}`)).status).toBe(400);
  });

  test("with another state than the browser's is refused", async () => {
    const visitor = visitSite(gateway);
    const answer = await goThrough(visitor, "/console", (back) => back.searchParams.set("state", "another"));
    expect(answer.status).toBe(400);
    expect(await readEmail(visitor)).toBeNull();
  });

  test("belongs to the browser that started the sign-in, and is valid for ten minutes", async () => {
    const [asker, victim] = [visitSite(gateway), visitSite(gateway)];
    const begun = await asker.get(path);
    const back = await provider.approve(begun.headers.get("location") ?? "");
    expect((await victim.get(`${path}/callback${back.search}`)).status).toBe(400);
    expect(await readEmail(victim)).toBeNull();
    clock.advance(10 * 60_000);
    expect((await asker.get(`${path}/callback${back.search}`)).status).toBe(400);
  });

  test.each<[string, (back: URL) => void]>([
    ["a refusal", (back) => back.searchParams.set("error", "access_denied")],
    ["an answer in another issuer's name", (back) => back.searchParams.set("iss", "https://evil.example")],
    ["a code that was made up", (back) => back.searchParams.set("code", "made-up")],
    ["no code", (back) => back.searchParams.delete("code")],
  ])("%s signs no user in", async (_name, change) => {
    const visitor = visitSite(gateway);
    const { status } = await goThrough(visitor, "/console", change);
    expect([401, 503]).toContain(status);
    expect(await readEmail(visitor)).toBeNull();
  });

  test.each([
    ["/token", { status: 500, body: "{}" }],
    ["/token", { status: 200, body: "not json" }],
    ["/token", { status: 200, body: `{"x": "${"y".repeat(300_000)}"}` }],
    ["/token", { status: 200, body: "{}" }],
  ])("that fails at %s is reported on a page", async (place, failure) => {
    const visitor = visitSite(gateway);
    provider.failures.set(place, failure);
    const answer = await goThrough(visitor);
    expect([401, 503]).toContain(answer.status);
    expect(await readEmail(visitor)).toBeNull();
  });
});

describe("an existing account", () => {
  test("is not given to a provider user with the same address", async () => {
    const { email } = await signUpVisitor(gateway);
    provider.person.email = email.toUpperCase();
    const visitor = visitSite(gateway);
    expect((await goThrough(visitor)).status).toBe(401);
    expect(await readEmail(visitor)).toBeNull();
  });

  test("is connected by its owner after re-authentication, and then signs in by the provider", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    provider.person.email = email;
    expect((await goThrough(visitor, "/security")).headers.get("location")).toBe("/security");
    const elsewhere = visitSite(gateway);
    await goThrough(elsewhere);
    expect(await readEmail(elsewhere)).toBe(email);
  });

  test("lists its connections, adds one after re-authentication, and removes one, but never the last way to sign in", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    provider.person.email = email;
    const list = async (by: SiteVisitor) => (await by.get("/services")).body.data;
    const service = { id: "example", name: "Example", is_offered: true };
    expect(await list(visitor)).toEqual([{ ...service, connected_at: null }]);
    const begun = await visitor.post("/services/example/connect");
    const back = await provider.approve(begun.body.location);
    const connected = await visitor.get(`${path}/callback${back.search}`);
    expect(connected.headers.get("location")).toBe("/console/settings");
    expect(await list(visitor)).toEqual([{ ...service, connected_at: clock.now().toISOString() }]);
    clock.advance(10 * 60_000);
    const stale = [await visitor.post("/services/example/connect"), await visitor.delete("/services/example")];
    expect(stale.map(({ body }) => body.error.code)).toEqual(Array(2).fill("reauthentication_required"));
    await visitor.post("/reauthenticate", { password: goodPassword });
    expect((await visitor.delete("/services/example")).status).toBe(204);
    expect((await readMail(visitor, email)).mail?.subject).toBe("Example was disconnected as a way to sign in");
    expect((await visitor.delete("/services/example")).status).toBe(404);
    expect((await goThrough(visitSite(gateway))).status).toBe(401);

    provider.person = { sub: "only-by-service", email: "only-by-service@example.com", email_verified: true };
    const other = visitSite(gateway);
    await goThrough(other);
    expect(await other.delete("/services/example")).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("last sign-in method") } },
    });
    expect(await list(other)).toMatchObject([{ id: "example", connected_at: expect.any(String) }]);
    expect((await other.post("/password", { new_password: "five other words now" })).status).toBe(200);
    expect((await other.delete("/services/example")).status).toBe(204);
  });

  test.each([
    ["another address", { email: "another@example.com" }],
    ["an unverified address", { email_verified: false }],
  ])("is not connected to %s", async (_name, claims) => {
    const { visitor, email } = await signUpVisitor(gateway);
    Object.assign(provider.person, { email }, claims);
    expect((await goThrough(visitor)).status).toBe(401);
    const elsewhere = visitSite(gateway);
    await goThrough(elsewhere);
    expect(await readEmail(elsewhere)).not.toBe(email);
  });

  test("is not connected by a session without recent authentication", async () => {
    const { visitor, email } = await signUpVisitor(gateway);
    provider.person.email = email;
    clock.advance(10 * 60_000);
    expect((await goThrough(visitor)).status).toBe(403);
  });

  test("is not connected to a user of another account, nor to two of one provider", async () => {
    const first = await signUpVisitor(gateway);
    provider.person.email = first.email;
    await goThrough(first.visitor);
    const second = await signUpVisitor(gateway);
    expect((await goThrough(second.visitor)).status).toBe(401);
    provider.person.sub = "another-subject";
    expect((await goThrough(first.visitor)).status).toBe(401);
  });
});

test("an unverified address of the provider opens no account", async () => {
  provider.person.email_verified = false;
  const visitor = visitSite(gateway);
  expect((await goThrough(visitor)).status).toBe(401);
  expect(await readEmail(visitor)).toBeNull();
});

test("an unknown provider, and one that does not answer, are reported on a page", async () => {
  expect((await visitSite(gateway).get("/sign-in/provider/nobody")).status).toBe(404);
  clock.advance(2 * 60 * 60_000);
  provider.failures.set("/.well-known/openid-configuration", { status: 200, body: JSON.stringify({ issuer: "x" }) });
  const answer = await visitSite(gateway).get(path);
  expect(answer.status).toBe(503);
  expect(answer.headers.get("content-type")).toContain("text/html");
  expect((await visitSite(gateway).get(path)).status).toBe(303);
});

test("with sign-up closed, a provider signs in only users who have an account", async () => {
  await using closed = await startWith({ sign_up: "closed" });
  const visitor = visitSite(closed);
  const answer = await goThrough(visitor);
  expect(answer.status).toBe(403);
  expect((await visitor.get("/site")).body.providers).toEqual([{ id: "example", name: "Example" }]);
});

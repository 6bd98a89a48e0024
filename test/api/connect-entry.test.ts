import { randomBytes } from "node:crypto";
import { request as sendRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addEntryRoutes, addProgramRoutes } from "../../src/features/site/connect/connect-routes.ts";
import { createSiteShell } from "../../src/features/site/serve-site.ts";
import { createThrottle } from "../../src/features/site/sign-in/throttle.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { createMemoryCounters } from "../../src/platform/counters/memory-counters.ts";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import { createHttpServer, type HttpServer } from "../../src/platform/http/create-http-server.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { makeVerifier, openEntry, writeEntry } from "../harness/site/connect-program.ts";
import { createTestClock } from "../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../harness/test-database.ts";

const clock = createTestClock();
const logs: string[] = [];
let testDatabase: TestDatabase;
let database: Database;
let http: HttpServer;
let siteUrl: string;

/** The entry on a real socket and a real database, with a page that needs no build. */
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const address = { connectionString: testDatabase.url };
  database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  const ids = createIdSource({ clock, randomBytes });
  const logger = createLogger({ level: "debug", format: "json", write: (line) => logs.push(line) });
  const files = {
    shell: '<html data-theme="system"><head></head><body></body></html>',
    pages: new Map(),
    parts: { mark: "", announcements: {} },
    assets: new Map(),
  };
  const shell = createSiteShell({
    signUp: "open",
    readStatus: null,
    siteUrl: "https://ai.example.com",
    getFiles: () => files,
  });
  const counters = createMemoryCounters({ clock });
  const site = {
    database,
    clock,
    ids,
    randomBytes,
    counters,
    beginAttempt: createThrottle(counters, randomBytes),
    logger,
    siteUrl: "https://ai.example.com",
    sendShell: shell.sendShell,
    mailer: { send: () => {} },
    findOperatorRole: async () => null,
  };
  http = await createHttpServer({
    clock,
    ids,
    logger,
    limits: {
      bodyBytesMax: 1000,
      json: { structureMax: 1000, escapesMax: 1000 },
      headerBytesMax: 32_768,
      headerTimeoutMs: 5000,
      requestTimeoutMs: 5000,
    },
    trustedProxies: ["127.0.0.0/8"],
    async addRoutes(routes) {
      addEntryRoutes(routes, site);
      await addProgramRoutes(routes, site);
    },
  });
  siteUrl = await http.listen({ host: "127.0.0.1", port: 0 });
});

afterAll(async () => {
  await http.close();
  await database.destroy();
  await testDatabase.close();
});

function readPageData(page: string): unknown {
  const [, json = "null"] = /<script type="application\/json" id="page-data">(.*?)<\/script>/.exec(page) ?? [];
  return JSON.parse(json);
}

async function countRequests(): Promise<number> {
  return (await database.selectFrom("connect_requests").select("id").execute()).length;
}

/** Sends a path byte for byte; `fetch` would normalize it. */
async function sendRaw(path: string): Promise<{ status: number; location: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; location: string }>();
  const { port } = new URL(siteUrl);
  sendRequest({ host: "127.0.0.1", port, path }, (response) => {
    response.resume();
    resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? "" });
  })
    .on("error", reject)
    .end();
  return await promise;
}

describe("a valid entry", () => {
  test("is stored, and redirects to an address without its parameters", async () => {
    const response = await openEntry({ siteUrl }, writeEntry({ state: "the-program's-state" }));
    expect(response.status).toBe(303);
    const location = response.headers.get("location") ?? "";
    expect(location).toMatch(/^\/connect\/requests\/[A-Za-z0-9_-]{22}$/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    const id = location.split("/").at(-1) ?? "";
    const row = await database.selectFrom("connect_requests").selectAll().where("id", "=", id).executeTakeFirst();
    expect(row).toMatchObject({
      client: "my-tool",
      state: "open",
      redirect_uri: "http://127.0.0.1:53111/callback",
      client_state: "the-program%27s-state",
      session_id: null,
      expires_at: new Date(clock.now().getTime() + 600_000),
    });
    expect(logs.join("")).not.toContain("the-program");
  });

  test("may request a code", async () => {
    const { challenge } = makeVerifier();
    const response = await openEntry({ siteUrl }, writeEntry(challenge));
    const id = (response.headers.get("location") ?? "").split("/").at(-1) ?? "";
    const row = database.selectFrom("connect_requests").select("code_challenge").where("id", "=", id);
    expect(await row.executeTakeFirst()).toEqual({ code_challenge: challenge.code_challenge });
  });

  test("never reuses an id", async () => {
    const locations = await Promise.all(
      Array.from({ length: 50 }, async () => (await openEntry({ siteUrl }, writeEntry())).headers.get("location")),
    );
    expect(new Set(locations).size).toBe(50);
  });
});

describe("an invalid entry", () => {
  test.each<[string, Record<string, string>, string]>([
    ["another host", { redirect_uri: "http://evil.example:80/callback" }, "redirect_uri"],
    ["a host after a user name", { redirect_uri: "http://127.0.0.1:80@evil.example/callback" }, "redirect_uri"],
    ["a host with our prefix", { redirect_uri: "http://127.0.0.1.evil.example:1/callback" }, "redirect_uri"],
    ["https", { redirect_uri: "https://127.0.0.1:53111/callback" }, "redirect_uri"],
    ["a line break", { redirect_uri: "http://127.0.0.1:1/callback\r\nlocation: //evil.example" }, "redirect_uri"],
    ["a script", { client: "</script><script>alert(1)</script>" }, "client"],
    ["another type", { response_type: "code" }, "response_type"],
    ["no state", { state: "" }, "state"],
    ["a weak challenge", { code_challenge: "x".repeat(43), code_challenge_method: "plain" }, "code_challenge_method"],
  ])("%s shows an error page and does not redirect", async (_what, changes, param) => {
    const before = await countRequests();
    const response = await openEntry({ siteUrl }, writeEntry(changes));
    const page = await response.text();
    expect(response.status).toBe(400);
    expect(response.headers.get("location")).toBeNull();
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(readPageData(page)).toEqual({
      kind: "connect-error",
      problems: [{ param, message: expect.stringMatching(/\.$/) }],
    });
    expect(page).not.toMatch(/evil|alert/);
    expect(await countRequests()).toBe(before);
  });

  test.each(["", "?", "?&&&", "?client", "?=&=", `?client=${"x".repeat(8000)}`, "?client=%00&state=%ff"])(
    "%s is invalid too",
    async (query) => {
      expect((await sendRaw(`/connect/browser-auth${query}`)).status).toBe(400);
    },
  );

  test("its page can be neither framed nor cached", async () => {
    const { headers } = await openEntry({ siteUrl }, "");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("permissions-policy")).toContain("loopback-network=(self)");
  });
});

test.each(["", "?", "?client=a+b%2F%zz&&x=//evil.example&state=%0d%0a?#&client="])(
  "the older path redirects to the entry with %j byte for byte",
  async (query) => {
    expect(await sendRaw(`/connect/cli-auth${query}`)).toEqual({
      status: 308,
      location: `/connect/browser-auth${query}`,
    });
  },
);

test("entries are rate-limited by network, and other networks are not affected", async () => {
  const headers = { "x-forwarded-for": "2001:db8::1" };
  const open = () => fetch(`${siteUrl}/connect/browser-auth?${writeEntry()}`, { redirect: "manual", headers });
  const responses = await Promise.all(Array.from({ length: 61 }, open));
  expect(responses.filter(({ status }) => status === 303)).toHaveLength(60);
  const refused = responses.find(({ status }) => status === 429);
  expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  expect(readPageData((await refused?.text()) ?? "")).toMatchObject({ kind: "message" });
  expect((await openEntry({ siteUrl }, writeEntry())).status).toBe(303);
});

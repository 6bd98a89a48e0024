import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { updateAccount } from "../../../src/features/accounts/index.ts";
import { createKeyText } from "../../../src/features/accounts/key-text.ts";
import { type SiteVisitor, signUpVisitor, visitorSettings } from "../../harness/site/site-visitor.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { buildUsersCli, openUsersCli, type RunningCli, type UsersCli } from "../../harness/users-cli/users-cli.ts";
import { waitUntil } from "../../harness/wait-until.ts";

let gateway: TestGateway;
let visitor: SiteVisitor;
let build: ReturnType<typeof buildUsersCli>;
let cli: UsersCli;

beforeAll(async () => {
  build = buildUsersCli();
  gateway = await startGateway({ settings: { ...visitorSettings, trusted_proxies: ["127.0.0.0/8"] } });
  ({ visitor } = await signUpVisitor(gateway));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  build[Symbol.dispose]();
});
beforeEach(() => {
  cli = openUsersCli(build.program);
});
afterEach(() => {
  expect(cli.seen()).not.toMatch(/sk-slc-\w{36}/);
  cli[Symbol.dispose]();
});

function readKey(): string | null {
  if (!existsSync(cli.credentialsFile)) return null;
  return JSON.parse(readFileSync(cli.credentialsFile, "utf8")).profiles[0]?.key ?? null;
}

/** The page that the command line asks the user to open, and the callback where it waits for the browser. */
async function readEntry(running: RunningCli): Promise<{ url: URL; callback: URL; state: string }> {
  const [, address = ""] = await running.sees(/^ {2}(http\S+\/connect\/browser-auth\S+)$/m);
  const url = new URL(address);
  const callback = new URL(url.searchParams.get("redirect_uri") ?? "");
  return { url, callback, state: url.searchParams.get("state") ?? "" };
}

/** Acts as the user's browser: opens the page and answers the authorization request. */
async function answerInBrowser(url: URL, answer: "approve" | "deny"): Promise<string> {
  const entry = await fetch(url, { redirect: "manual" });
  expect(entry.status).toBe(303);
  const requestId = entry.headers.get("location")?.split("/").at(-1);
  const { status, body } = await visitor.post(`/connect/requests/${requestId}/${answer}`);
  expect([status, typeof body.callback_url]).toEqual([200, "string"]);
  return body.callback_url;
}

/** A request with headers that a browser would not let a page choose. */
function send(url: URL, { method = "GET", host = url.host } = {}): Promise<number> {
  return new Promise((settle, fail) => {
    const request = sendRequest(url, { method, headers: { host } }, (response) => {
      response.resume();
      settle(response.statusCode ?? 0);
    });
    request.once("error", fail).end();
  });
}

describe("signing in by browser", () => {
  test("opens the browser, gets a key by its code and stores it where only its owner can read it", async () => {
    const opener = join(cli.home, "bin/xdg-open");
    mkdirSync(join(cli.home, "bin"));
    writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > ${cli.home}/opened\n`);
    chmodSync(opener, 0o755);
    const running = cli.start(["login", "--site", gateway.siteUrl]);
    const { url, callback } = await readEntry(running);
    await waitUntil(
      "the browser",
      () => existsSync(`${cli.home}/opened`) && readFileSync(`${cli.home}/opened`, "utf8"),
    );
    expect(readFileSync(`${cli.home}/opened`, "utf8")).toBe(url.href);
    expect([callback.hostname, callback.pathname]).toEqual(["127.0.0.1", "/callback"]);
    expect(url.searchParams.get("code_challenge_method")).toBe("S256");
    const callbackUrl = await answerInBrowser(url, "approve");
    expect(callbackUrl).not.toContain("sk-slc-");
    const page = await fetch(callbackUrl);
    expect([page.status, page.headers.get("cache-control"), page.headers.get("referrer-policy")]).toEqual([
      200,
      "no-store",
      "no-referrer",
    ]);
    expect(await page.text()).toContain("Back to the terminal");
    const { exitCode, stdout } = await running.ended;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("Signed in to")]);
    expect(statSync(cli.credentialsFile).mode & 0o777).toBe(0o600);
    expect((await gateway.get("/models", readKey() ?? "")).status).toBe(200);
    const { body } = await visitor.get("/connected-clients");
    expect(JSON.stringify(body)).toContain("sluice-cli-");
  });

  test("rejects callbacks without the state, for another host or by another method, and accepts only one answer", async () => {
    const running = cli.start(["login", "--site", gateway.siteUrl, "--no-browser"]);
    const { url, callback, state } = await readEntry(running);
    const write = (query: Record<string, string>, path = "/callback") =>
      new URL(`${path}?${new URLSearchParams(query)}`, callback);
    const forged = { code: "forged", state };
    expect(await send(write({ code: "forged", state: "wrong" }))).toBe(404);
    expect(await send(write({ code: "forged" }))).toBe(404);
    expect(await send(write({ state }))).toBe(404);
    expect(await send(write(forged, "/other"))).toBe(404);
    expect(await send(write(forged), { method: "POST" })).toBe(404);
    expect(await send(write(forged), { host: "rebound.example" })).toBe(404);
    expect(await send(write(forged), { host: `127.0.0.1.nip.io:${callback.port}` })).toBe(404);
    const callbackUrl = new URL(await answerInBrowser(url, "approve"));
    const statuses = await Promise.all([send(callbackUrl), send(callbackUrl).catch(() => 404)]);
    expect(statuses.toSorted()).toEqual([200, 404]);
    expect((await running.ended).exitCode).toBe(0);
    expect(readKey()).toMatch(/^sk-slc-/);
    await expect(send(callbackUrl)).rejects.toThrow();
  });

  test("that is denied changes nothing, and neither does Ctrl-C", async () => {
    const refused = cli.start(["login", "--site", gateway.siteUrl, "--no-browser"]);
    const { url } = await readEntry(refused);
    await fetch(await answerInBrowser(url, "deny"));
    expect(await refused.ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("denied") });
    const stopped = cli.start(["login", "--site", gateway.siteUrl, "--no-browser"]);
    await readEntry(stopped);
    stopped.kill("SIGINT");
    expect((await stopped.ended).exitCode).toBe(130);
    expect(readKey()).toBeNull();
  });

  test("again replaces this machine's key, and an unknown code is refused", async () => {
    const logIn = async () => {
      const running = cli.start([
        "login",
        "--site",
        gateway.siteUrl,
        "--no-browser",
        "--client",
        "my-laptop",
        "--json",
      ]);
      const { url } = await readEntry(running);
      await fetch(await answerInBrowser(url, "approve"));
      expect((await running.ended).exitCode).toBe(0);
      return readKey() ?? "";
    };
    const [first, second] = [await logIn(), await logIn()];
    expect(second).not.toBe(first);
    await waitUntil("the older key to be refused", async () => (await gateway.get("/models", first)).status === 401);
    const running = cli.start(["login", "--site", gateway.siteUrl, "--no-browser"]);
    const { callback, state } = await readEntry(running);
    expect(await send(new URL(`/callback?code=somebody-elses&state=${state}`, callback))).toBe(200);
    expect((await running.ended).exitCode).toBe(1);
    expect(readKey()).toBe(second);
  });
});

describe("signing in by a code on another device", () => {
  async function startDevice() {
    const running = cli.start(["login", "--site", gateway.siteUrl, "--device"]);
    const [, userCode] = await running.sees(/and enter {2}(\S+)/);
    const { body } = await visitor.post("/connect/device/lookup", { user_code: userCode });
    return { running, requestId: body.request_id as string };
  }

  test("gets a key once it is approved", async () => {
    const { running, requestId } = await startDevice();
    expect((await visitor.post(`/connect/requests/${requestId}/approve`)).status).toBe(200);
    expect((await running.ended).exitCode).toBe(0);
    expect((await gateway.get("/models", readKey() ?? "")).status).toBe(200);
  });

  test("that is denied changes nothing", async () => {
    const { running, requestId } = await startDevice();
    expect((await visitor.post(`/connect/requests/${requestId}/deny`)).status).toBe(200);
    expect(await running.ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("denied") });
    expect(readKey()).toBeNull();
  });
});

describe("a failed sign-in leaves the stored credentials exactly as they were", () => {
  /** A foreign server that answers every path the same way, or never. */
  async function startOther(answer: { status: number; type: string; body: string } | null) {
    const server = createServer((_request, response) => {
      if (answer !== null) response.writeHead(answer.status, { "content-type": answer.type }).end(answer.body);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    return {
      site: `http://127.0.0.1:${port}`,
      asked: () => once(server, "request"),
      async [Symbol.asyncDispose]() {
        server.closeAllConnections();
        await once(server.close(), "close");
      },
    };
  }

  const unknownKey = "sk-slc-0000000000000000000000000000000000NN";
  const other = (site: string) =>
    JSON.stringify({ current: site, profiles: [{ site, apiUrl: `${site}/v1`, key: unknownKey }] });

  /** Once without stored credentials, and once signed in to this very server. */
  async function expectUntouched(site: string, words: readonly string[], logIn: (words: string[]) => Promise<void>) {
    await logIn(["login", "--site", site, ...words]);
    expect(existsSync(cli.credentialsFile)).toBe(false);
    mkdirSync(dirname(cli.credentialsFile), { recursive: true });
    writeFileSync(cli.credentialsFile, other(site), { mode: 0o600 });
    await logIn(["login", "--site", site, ...words]);
    expect(readFileSync(cli.credentialsFile, "utf8")).toBe(other(site));
    expect(readdirSync(dirname(cli.credentialsFile))).toEqual(["credentials.json"]);
    rmSync(dirname(cli.credentialsFile), { recursive: true });
  }

  test("because the server does not know the key, or has suspended its account", async () => {
    const suspended = await gateway.createCaller();
    await updateAccount(gateway.parts, suspended.accountId, { isSuspended: true });
    const unknown = createKeyText((count) => new Uint8Array(count).fill(7));
    for (const [input, exitCode, told] of [
      [unknown, 3, "not valid"],
      [suspended.key, 1, "suspended"],
    ] as const) {
      await expectUntouched(gateway.siteUrl, ["--key"], async (words) => {
        const ended = await cli.run(words, { input });
        expect(ended).toMatchObject({ exitCode, stdout: "", stderr: expect.stringContaining(told) });
      });
    }
  });

  test.each([
    ["a page", { status: 200, type: "text/html", body: "<h1>Welcome</h1>" }],
    ["other JSON", { status: 200, type: "application/json", body: '{"models": []}' }],
    ["no JSON object", { status: 200, type: "application/json", body: "null" }],
    ["nothing there", { status: 404, type: "text/plain", body: "not found" }],
  ])("because the address belongs to another server, which answers with %s", async (_name, answer) => {
    await using server = await startOther(answer);
    const { key } = await gateway.createCaller();
    await expectUntouched(server.site, ["--key"], async (words) => {
      const ended = await cli.run(words, { input: key });
      expect(ended).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("Sluice ") });
      expect(ended.stderr).not.toContain("unforeseen");
    });
  });

  test("because it was interrupted during a request", async () => {
    await using server = await startOther(null);
    const { key } = await gateway.createCaller();
    await expectUntouched(server.site, ["--key"], async (words) => {
      const asked = server.asked();
      const running = cli.start(words, { input: key });
      await asked;
      running.kill("SIGINT");
      expect(await running.ended).toMatchObject({ exitCode: 130, stdout: "" });
    });
  });

  test("because the file cannot be written, which is reported in a sentence", async () => {
    const { key } = await gateway.createCaller();
    const words = ["login", "--site", gateway.siteUrl, "--key"];
    const ended = await cli.run(words, { input: key, environment: { XDG_CONFIG_HOME: "/sys" } });
    expect(ended).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(/\/sys\/sluice\/credentials\.json: .*\n {2}\S/),
    });
  });

  test("because of a usage error, before anything is prompted for", async () => {
    await expectUntouched(gateway.siteUrl, ["--no-browser", "--api", "nowhere"], async (words) => {
      const ended = await cli.run(words);
      expect(ended).toMatchObject({ exitCode: 2, stderr: expect.not.stringContaining("Open this address") });
    });
  });

  test("but a key that may not list models is stored: it has other permissions", async () => {
    const { key } = await gateway.createCaller({ endpoints: ["files"] });
    const ended = await cli.run(["login", "--site", gateway.siteUrl, "--key"], { input: key });
    expect(ended).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("is not allowed to use the models endpoints"),
    });
    expect(readKey()).toBe(key);
  });
});

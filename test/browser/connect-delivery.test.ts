import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectByContract } from "../harness/chat/contract-client.ts";
import { type BrowsedSite, fillSignIn, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { programState } from "../harness/site/connect-program.ts";
import { approveByPage, notePopups, presentEntry, startLoopbackProgram } from "../harness/site/loopback-program.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { waitUntil } from "../harness/wait-until.ts";

describe.skipIf(!hasBrowser)("a key from a site on the internet", () => {
  let site: BrowsedSite;
  let email: string;
  beforeAll(async () => {
    site = await startBrowsedSite({ isPublic: true, hostname: "sluice.test" });
    email = await site.createPerson();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** A program written from the contract's text, with the messages it receives. */
  async function startContractClient(client: string, signal = new AbortController().signal) {
    const { promise: entry, resolve } = Promise.withResolvers<string>();
    const outcome = connectByContract({
      siteUrl: site.siteUrl,
      baseUrl: site.gateway.baseUrl,
      client,
      openBrowser: resolve,
      signal,
    });
    return { entry: await entry, outcome };
  }

  // The other tests prove nothing if the browser treats the site and the program as the same network.
  test("cannot be delivered by a plain request of the page, because the browser blocks it", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.goto(presentEntry(program.redirectUri));
    await page.getByRole("heading", { name: "Connect a program" }).waitFor();
    const outcome = await page.evaluate(
      `fetch("${program.redirectUri}?probe=1", { mode: "no-cors" }).then(() => "came through", () => "blocked")`,
    );
    expect(outcome).toBe("blocked");
    expect(program.callbacks).toEqual([]);
  });

  test("reaches a program written from the contract's text, through sign-in and a window that closes", async () => {
    const { entry, outcome } = await startContractClient("contract-client");
    await using opened = await site.openPage();
    const { page } = opened;
    const popups = notePopups(page.context());
    await page.goto(entry);
    await page.waitForURL(/\/sign-in\?next=/);
    await fillSignIn(page, email);
    await approveByPage(page);
    expect(await outcome).toMatchObject({ kind: "connected", apiKey: expect.stringMatching(/^sk-slc-/) });
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await waitUntil("the window to be closed", () => popups.length === 1 && popups[0]?.isClosed());
    expect(page.context().pages()).toEqual([page]);
    expect(opened.complaints).toEqual([]);
  });

  test("is nowhere on the site: in no address, history, page, storage, header or log", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    const asked: string[] = [];
    page.on("request", (request) => asked.push(`${request.url()} ${JSON.stringify(request.headers())}`));
    await page.goto(presentEntry(program.redirectUri));
    await approveByPage(page);
    const { query, headers } = await program.called();
    const key = query.get("api_key") ?? "";
    expect((await site.gateway.get("/models", key)).status).toBe(200);
    expect(query.get("state")).toBe(programState);
    await page.getByRole("heading", { name: "Connected" }).waitFor();

    expect([headers.referer, headers.cookie, headers.origin]).toEqual([undefined, undefined, undefined]);
    const devtools = await page.context().newCDPSession(page);
    const { entries } = await devtools.send("Page.getNavigationHistory");
    const stored = await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])");
    const places = {
      address: page.url(),
      history: JSON.stringify(entries),
      page: await page.content(),
      stored,
      asked: asked.join("\n"),
      cookies: JSON.stringify(await page.context().storageState()),
      log: JSON.stringify(site.gateway.logs),
    };
    expect(places.history).toContain("/connect/requests/");
    expect(places.log).toContain("/connect/requests/");
    const secret = key.slice("sk-slc-".length);
    expect(secret).toHaveLength(36);
    expect(Object.entries(places).flatMap(([name, text]) => (String(text).includes(secret) ? [name] : []))).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("arrives without a window if the person has allowed it", { tags: "extended" }, async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.context().grantPermissions(["local-network-access"], { origin: site.siteUrl });
    const popups = notePopups(page.context());
    await page.goto(presentEntry(program.redirectUri));
    await approveByPage(page);
    const { query } = await program.called();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    expect(popups).toEqual([]);
    expect(program.callbacks).toHaveLength(1);
    expect(opened.complaints).toEqual([]);
  });

  test("is not created when the person denies, and the program is notified", async () => {
    const { entry, outcome } = await startContractClient("refused-client");
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.goto(entry);
    await page.getByRole("button", { name: "Deny" }).click();
    expect(await outcome).toEqual({ kind: "refused", error: "access_denied" });
    await page.getByRole("heading", { name: "Denied" }).waitFor();
    await page.goto("/security");
    await page.getByRole("heading", { name: "Connected programs" }).waitFor();
    await expect.poll(() => page.getByText("refused-client").count()).toBe(0);
  });

  test("is not accepted by a program with another state", { tags: "extended" }, async () => {
    const stop = new AbortController();
    const { entry, outcome } = await startContractClient("careful-client", stop.signal);
    const settled = outcome.then(
      () => "connected",
      () => "stopped",
    );
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    const forged = new URL(entry);
    forged.searchParams.set("state", "of somebody else");
    const refusal = page.context().waitForEvent("response", (response) => response.url().includes("/callback"));
    await page.goto(forged.href);
    await approveByPage(page);
    expect((await refusal).status()).toBe(404);
    await page.getByRole("button", { name: "Deliver in this tab" }).waitFor();
    stop.abort();
    expect(await settled).toBe("stopped");
  });

  test("gives the program's window no reference to the site's page", { tags: "extended" }, async () => {
    await using program = await startLoopbackProgram({ page: "<!doctype html><title>Stays</title>Here I stay." });
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    const popups = notePopups(page.context());
    await page.goto(presentEntry(program.redirectUri));
    await approveByPage(page);
    const { query } = await program.called();
    const popup = await waitUntil("the window", () => popups[0]);
    await popup.getByText("Here I stay.").first().waitFor();
    expect(await popup.evaluate("window.opener")).toBeNull();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
  });
});

// @module-tag extended
import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "../../src/features/accounts/index.ts";
import { bookCredit } from "../../src/features/ledger/index.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { toAmount } from "../harness/chat/spender.ts";
import { findFreePort } from "../harness/gateway-process.ts";
import { openTcpGate, type TcpGate } from "../harness/servers/tcp-gate.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";

describe.skipIf(!hasBrowser)("the console during failures", () => {
  let site: BrowsedSite;
  let gate: TcpGate;
  beforeAll(async () => {
    const frontPort = Number(await findFreePort());
    site = await startBrowsedSite({ frontPort });
    gate = await openTcpGate({ port: frontPort, targetPort: site.gateway.port });
  });
  afterAll(async () => {
    await gate.close();
    await site[Symbol.asyncDispose]();
  });

  async function openConsole(path = "/console/settings") {
    const opened = await openSignedInPage(site, await site.createPerson());
    await opened.page.goto(path);
    return opened;
  }

  const goTo = (page: Page, place: string) =>
    page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: place }).click();
  const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1, exact: true });
  const banner = (page: Page) => page.getByRole("status").filter({ hasText: "Reconnecting…" });

  test("a page that fails keeps the console around it, names the request and recovers on retry", async () => {
    await using opened = await openConsole();
    const { page } = opened;
    await page.route("**/console/api/tasks*", (route) =>
      route.fulfill({ json: { data: [{ id: "x" }], has_more: false } }),
    );
    await goTo(page, "Tasks");
    await heading(page, "This page could not be shown").waitFor();
    await page
      .getByRole("main")
      .getByText(/Request ID req_/)
      .first()
      .waitFor();
    await expect.poll(() => page.getByRole("navigation", { name: "Console" }).count()).toBe(1);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.unroute("**/console/api/tasks*");
    await page.getByRole("button", { name: "Try again" }).click();
    await heading(page, "Tasks").waitFor();
    await page.getByText("No tasks yet").first().waitFor();
  });

  test("a session that cannot be loaded keeps the console around the error, with the request id", async () => {
    await using opened = await openConsole();
    const { page } = opened;
    await heading(page, "Settings").waitFor();
    const error = {
      message: "Something went wrong on our side.",
      type: "api_error",
      param: null,
      code: "internal_error",
    };
    await page.route("**/console/api/session", (route) =>
      route.fulfill({ status: 500, json: { error, request_id: "req_session" } }),
    );
    await page.reload();
    await page.getByRole("main").getByText("req_session").first().waitFor();
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    await page.unroute("**/console/api/session");
    await page.getByRole("button", { name: "Try again" }).click();
    await heading(page, "Settings").waitFor();
  });

  test("a list that the server fails to return names the request", async () => {
    await using opened = await openConsole();
    const { page } = opened;
    const error = { message: "Not allowed here.", type: "permission_error", param: null, code: "forbidden" };
    await page.route("**/console/api/keys?*", (route) =>
      route.fulfill({ status: 403, json: { error, request_id: "req_list" } }),
    );
    await goTo(page, "API keys");
    await page.getByRole("alert").getByText("req_list").first().waitFor();
  });

  test("while the server is down the console shows it, and recovers with the typed values", async () => {
    await using opened = await openConsole("/console/keys?key=new");
    const { page } = opened;
    await page.getByLabel("Name").fill("Typed before");
    await gate.close();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await banner(page).waitFor();
    await page.getByRole("dialog").getByText("The server cannot be reached").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await gate.open();
    await banner(page).waitFor({ state: "detached" });
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Typed before");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByRole("region", { name: "Your new key" }).waitFor();
  });

  test("all pages of a browser share one change stream, and are current again after a reconnect", async () => {
    const email = await site.createPerson({ credit: "5" });
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    let streams = 0;
    page.context().on("request", (request) => {
      if (request.url().endsWith("/console/api/changes")) streams += 1;
    });
    const heard = page.waitForResponse(/console\/api\/changes$/);
    await page.goto("/console");
    await heard;
    const second = await page.context().newPage();
    await second.goto("/console/settings");
    const balance = (of: Page, amount: string) =>
      of.getByRole("link", { name: new RegExp(`Available balance\\s*\\${amount}`) }).waitFor();
    await Promise.all([balance(page, "$5.00"), balance(second, "$5.00")]);

    const { accountId, key } = await createKeyOf(email);
    const spent = await fetch(`${site.gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] }),
    });
    expect(spent.status).toBe(200);
    await Promise.all([balance(page, "$4.99"), balance(second, "$4.99")]);
    expect(streams).toBe(1);

    await gate.close();
    await Promise.all([banner(page).waitFor(), banner(second).waitFor()]);
    await addCredit(accountId, "10");
    await gate.open();
    await Promise.all([balance(page, "$14.99"), balance(second, "$14.99")]);
    await Promise.all([page, second].map((each) => banner(each).waitFor({ state: "detached" })));

    // The page that reads the stream closes, and the other one takes over.
    const taken = second.waitForResponse(/console\/api\/changes$/);
    await page.close();
    await taken;
    await addCredit(accountId, "1");
    await balance(second, "$15.99");
  });

  async function createKeyOf(email: string): Promise<{ accountId: AccountId; key: string }> {
    const { database, parts } = site.gateway;
    const { id } = await database
      .selectFrom("accounts")
      .select("id")
      .where("email", "=", email)
      .executeTakeFirstOrThrow();
    const accountId = id as AccountId;
    const { text } = await createApiKey({ ...parts, randomBytes }, { accountId, name: "Spends" });
    return { accountId, key: text };
  }

  async function addCredit(accountId: AccountId, amount: string): Promise<void> {
    const booking = { kind: "top-up" as const, amount: toAmount(amount) };
    await bookCredit(site.gateway.parts, { accountId, booking, actor: "test", reason: "a test", reference: null });
  }

  test("a page opened while the server is down loads once the server is up", async () => {
    await using opened = await openConsole();
    const { page } = opened;
    await heading(page, "Settings").waitFor();
    await gate.close();
    await goTo(page, "Billing");
    await banner(page).waitFor();
    await expect.poll(() => page.getByRole("navigation", { name: "Console" }).count()).toBe(1);
    await gate.open();
    await heading(page, "Billing").waitFor();
    await page.getByText("No entries yet.").first().waitFor();
    await banner(page).waitFor({ state: "detached" });
  });

  test("a proxy without a server behind it counts as a server that is down", async () => {
    await using opened = await openConsole();
    const { page } = opened;
    await heading(page, "Settings").waitFor();
    const answer = { status: 502, contentType: "text/html", body: "<h1>Bad Gateway</h1>" };
    await page.route("**/console/api/**", (route) => route.fulfill(answer));
    await goTo(page, "Usage");
    await banner(page).waitFor();
    await page.unroute("**/console/api/**");
    await page.getByText("No charges in this period").first().waitFor();
    await banner(page).waitFor({ state: "detached" });
  });

  test("a page whose code fails to load at first loads without a click", async () => {
    await using opened = await openConsole();
    const { page } = opened;
    await heading(page, "Settings").waitFor();
    await page.route(/\/assets\/billing-page/, (route) => route.abort(), { times: 1 });
    await goTo(page, "Billing");
    await heading(page, "Billing").waitFor();
  });

  test("a page whose code is missing shows it inside the console, and loads once the code is back", async () => {
    await using opened = await openConsole();
    const { page } = opened;
    await heading(page, "Settings").waitFor();
    await page.route(/\/assets\/billing-page/, (route) => route.fulfill({ status: 404, body: "" }));
    const reloaded = page.waitForEvent("domcontentloaded");
    await goTo(page, "Billing");
    await heading(page, "This page could not be loaded").waitFor();
    // It reloads once by itself to find the files of a new version.
    await reloaded;
    await heading(page, "This page could not be loaded").waitFor();
    await page.getByRole("button", { name: "Reload" }).waitFor();
    await expect.poll(() => page.getByRole("navigation", { name: "Console" }).count()).toBe(1);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await goTo(page, "Usage");
    await heading(page, "Usage").waitFor();
    await goTo(page, "Billing");
    await heading(page, "This page could not be loaded").waitFor();
    await page.unroute(/\/assets\/billing-page/);
    await heading(page, "Billing").waitFor();
  });
});

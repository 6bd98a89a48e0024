import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAccount } from "../../src/features/accounts/index.ts";
import { bookCredit } from "../../src/features/ledger/index.ts";
import { nano } from "../../src/lib/money.ts";
import { signInOperator } from "../harness/admin/signed-in-operator.ts";
import { findLoggedCall } from "../harness/find-logged-call.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { waitUntil } from "../harness/wait-until.ts";

describe.skipIf(!hasBrowser)("the operator console", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const navigation = (page: Page) => page.getByRole("navigation", { name: "Operator" });

  test("customers find no page and no link, and load nothing of it", async () => {
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await openSettled(page, "/console");
    await expect.poll(() => navigation(page).count()).toBe(0);
    expect(loaded.filter((path) => /admin|operator/.test(path))).toEqual([]);
    await page.goto("/console/admin/accounts");
    await page.getByRole("heading", { name: "Page not found", level: 1 }).waitFor();
  });

  test("an operator finds an account, books credit, suspends it and reads both in its history", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    const operator = await signInOperator(site, page);
    await page.goto("/console");
    await navigation(page).getByRole("link", { name: "Accounts" }).click();
    await page.getByRole("heading", { name: "Accounts", level: 1 }).waitFor();
    await page.getByLabel("Search by e-mail or account ID").fill(email.slice(0, 8).toUpperCase());
    await page.waitForURL(/q=/);
    await page.getByRole("link", { name: email }).click();
    await page.getByRole("heading", { name: email, level: 1 }).waitFor();

    await page.getByRole("button", { name: "Book credit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount (USD)").fill("20.00");
    await dialog.getByRole("button", { name: "Book" }).click();
    await dialog.getByText("Give a reason of 1 to 500 characters.").first().waitFor();
    await dialog.getByLabel("Reason").fill("invoice 7");
    await dialog.getByRole("button", { name: "Book" }).click();
    await dialog.waitFor({ state: "detached" });
    const balance = page.getByRole("region", { name: "Balance" });
    await balance.getByText("$20.00").first().waitFor();

    await page.getByRole("button", { name: "Suspend" }).click();
    await dialog.getByLabel("Reason").fill("stolen card");
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await page
      .getByText(/^Suspended since/)
      .first()
      .waitFor();
    const history = page.getByRole("region", { name: "Audit log" });
    for (const text of ["account.suspended", "stolen card", "credit.added", "invoice 7"]) {
      await history.getByText(text).first().waitFor();
    }
    await history.getByText(operator).first().waitFor();

    await navigation(page).getByRole("link", { name: "Audit log" }).click();
    await page.getByRole("button", { name: "Verify" }).click();
    await page
      .getByText(/entries are unchanged/)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });

  /** A request of a new customer, which was charged. */
  async function makeRequest(): Promise<{ requestId: string; accountId: string; email: string }> {
    const { accountId, key } = await site.gateway.createCaller();
    const booking = { kind: "top-up" as const, amount: nano(5_000_000_000n) };
    await bookCredit(site.gateway.parts, { accountId, booking, actor: "test", reason: "test", reference: null });
    const response = await fetch(`${site.gateway.baseUrl}/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hi" }], max_tokens: 50 }),
    });
    await response.text();
    const requestId = response.headers.get("x-request-id") ?? "";
    await waitUntil(
      "the request to be logged",
      async () => (await findLoggedCall(site.gateway.database, requestId)) !== null,
    );
    const account = await findAccount(site.gateway.database, accountId);
    return { requestId, accountId, email: account?.email ?? "" };
  }

  test("an operator finds the customer behind a request id and refunds the call, in three clicks", async () => {
    const { requestId, email } = await makeRequest();
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin/accounts");
    await page.getByLabel("Find by ID, e-mail, key or payment").fill(requestId);
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await page.getByRole("heading", { name: "sandbox-chat", level: 1 }).waitFor();
    const customer = page.getByRole("region", { name: "Customer" });
    await customer.getByRole("link", { name: email }).waitFor();
    await page.getByRole("region", { name: "Course" }).getByText("sandbox").first().waitFor();
    await page.getByRole("button", { name: "Refund" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("case 12");
    await dialog.getByRole("button", { name: "Refund" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("region", { name: "Charge and margin" }).getByText("Refunded").first().waitFor();
    await page.getByRole("button", { name: "Refund" }).waitFor({ state: "detached" });
    await customer.getByRole("link", { name: email }).click();
    await page.getByRole("region", { name: "Balance" }).getByText("$5.00").first().waitFor();
    expect(complaints).toEqual([]);
  });

  test.for([
    { width: 1440, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
  ] as const)(
    "pages pass axe and fit at $width pixels, $colorScheme",
    { tags: "extended" },
    async ({ width, colorScheme }) => {
      const { requestId, accountId, email } = await makeRequest();
      await using opened = await site.openPage({ viewport: { width, height: 900 }, colorScheme });
      const { page } = opened;
      await signInOperator(site, page);
      const places = [
        "accounts",
        `accounts/${accountId}`,
        "requests",
        `requests/${requestId}`,
        `search?find=${email}`,
        "audit",
      ];
      for (const place of places.map((path) => `/console/admin/${path}`)) {
        await openSettled(page, place);
        // The lists of a page load after its own data.
        await expect.poll(() => page.locator(".animate-pulse, [aria-busy=true]").count()).toBe(0);
        await expect.poll(() => listAxeFindings(page), { message: place }).toEqual([]);
        expect(await findLayoutFaults(page), place).toEqual([]);
      }
    },
  );
});

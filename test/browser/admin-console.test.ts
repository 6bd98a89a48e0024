import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signInOperator } from "../harness/admin/signed-in-operator.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";

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
    expect(await navigation(page).count()).toBe(0);
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
    await page.getByRole("searchbox").fill(email.slice(0, 8).toUpperCase());
    await page.waitForURL(/q=/);
    await page.getByRole("link", { name: email }).click();
    await page.getByRole("heading", { name: email, level: 1 }).waitFor();

    await page.getByRole("button", { name: "Book credit" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Amount (USD)").fill("20.00");
    await dialog.getByRole("button", { name: "Book" }).click();
    await dialog.getByText("Give a reason of 1 to 500 characters.").waitFor();
    await dialog.getByLabel("Reason").fill("invoice 7");
    await dialog.getByRole("button", { name: "Book" }).click();
    await dialog.waitFor({ state: "detached" });
    const balance = page.getByRole("region", { name: "Balance" });
    await balance.getByText("$20.00").first().waitFor();

    await page.getByRole("button", { name: "Suspend" }).click();
    await dialog.getByLabel("Reason").fill("stolen card");
    await dialog.getByRole("button", { name: "Suspend" }).click();
    await page.getByText(/^Suspended since/).waitFor();
    const history = page.getByRole("region", { name: "Audit log" });
    for (const text of ["account.suspended", "stolen card", "credit.added", "invoice 7"]) {
      await history.getByText(text).first().waitFor();
    }
    expect(await history.getByText(operator).count()).toBeGreaterThan(0);

    await navigation(page).getByRole("link", { name: "Audit log" }).click();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText(/entries are unchanged/).waitFor();
    expect(complaints).toEqual([]);
  });

  test.for([
    { width: 1440, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
  ] as const)("pages pass axe and fit at $width pixels, $colorScheme", async ({ width, colorScheme }) => {
    const email = await site.createPerson({ credit: "12.50" });
    await using opened = await site.openPage({ viewport: { width, height: 900 }, colorScheme });
    const { page } = opened;
    await signInOperator(site, page);
    await openSettled(page, `/console/admin/accounts?q=${email}`);
    const found = page.getByRole("link", { name: email });
    const path = await found.getAttribute("href");
    for (const place of ["/console/admin/accounts", path ?? "", "/console/admin/audit"]) {
      await openSettled(page, place);
      // The lists of a page load after its own data.
      await expect.poll(() => page.locator(".animate-pulse, [aria-busy=true]").count()).toBe(0);
      expect(await listAxeFindings(page), place).toEqual([]);
      expect(await findLayoutFaults(page), place).toEqual([]);
    }
  });
});

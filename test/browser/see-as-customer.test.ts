import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signInOperator } from "../harness/admin/signed-in-operator.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { type ConsolePerson, createConsolePerson } from "../harness/site/console-person.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { takePicture } from "../harness/site/take-picture.ts";

describe.skipIf(!hasBrowser)("an operator sees a customer's console", () => {
  let site: BrowsedSite;
  let person: ConsolePerson;
  let taskId: string;

  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
    person = await createConsolePerson(site);
    const task = { model: "sandbox-image", size: "512x512", prompt: "A lake" };
    taskId = (await person.call("POST", "/images/generations", task)).id;
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function begin(page: Page): Promise<void> {
    await page.goto(`/console/admin/accounts/${person.accountId}`);
    await page.getByRole("button", { name: "See as customer" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("asked about a charge");
    await dialog.getByRole("button", { name: "See as customer" }).click();
    await page.getByRole("complementary", { name: "View of an account" }).getByText(person.email).first().waitFor();
  }

  test("from the account's page to the console, read-only, and back; the customer sees it in the settings", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page } = opened;
    await signInOperator(site, page);
    await begin(page);
    await expect.poll(() => page.getByRole("navigation", { name: "Operator" }).count()).toBe(0);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Someone else");
    await page.getByRole("button", { name: "Save" }).first().click();
    await page
      .getByText(/read-only. End the view/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "End view" }).click();
    await page.waitForURL(`**/console/admin/accounts/${person.accountId}`);
    await page.getByRole("heading", { name: person.email, level: 1 }).waitFor();
    await page.getByText("account.view_ended").first().waitFor();
    await expect.poll(() => page.getByRole("complementary", { name: "View of an account" }).count()).toBe(0);

    await using own = await openSignedInPage(site, person.email);
    await own.page.goto("/console/settings");
    const activity = own.page.getByRole("list", { name: "Activity" });
    await activity.getByText("Began to look at your account, read-only").first().waitFor();
    await activity.getByText("The look at your account ended").first().waitFor();
    expect(await activity.innerText()).not.toContain("asked about a charge");
  });

  test("a view that ended elsewhere leads away from the customer's pages", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await signInOperator(site, page);
    await begin(page);
    await site.gateway.database
      .updateTable("account_views")
      .set({ ends_at: new Date(0) })
      .execute();
    await page.reload();
    await page.getByRole("complementary", { name: "View of an account" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Account of/ }).waitFor();
    await expect.poll(() => page.getByText(person.email).count()).toBe(0);
  });

  test("an operator exports a person's data, and erases them after closing the account", async () => {
    const gone = await createConsolePerson(site);
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page } = opened;
    await signInOperator(site, page);
    await page.goto(`/console/admin/accounts/${gone.accountId}`);
    const section = page.getByRole("region", { name: "Personal data" });
    const explain = async (button: string) => {
      const dialog = page.getByRole("dialog");
      await dialog.getByLabel("Reason").fill("case 17");
      await dialog.getByRole("button", { name: button }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await section.getByRole("button", { name: "Export data" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), explain("Export")]);
    expect(download.suggestedFilename()).toBe(`${gone.accountId}.tar.gz`);
    await section.getByText("close the account first").first().waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await explain("Close account");
    await section.getByRole("button", { name: "Erase person" }).click();
    await explain("Erase");
    await page.getByRole("heading", { name: `erased@${gone.accountId}.invalid`, level: 1 }).waitFor();
    await section.getByText("their data was erased").first().waitFor();
    await expect.poll(() => page.getByText(gone.email).count()).toBe(0);
  });

  test.for([
    { width: 1440, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
    { width: 390, colorScheme: "light" },
    { width: 1440, colorScheme: "dark" },
  ] as const)(
    "the pages pass axe and fit at $width pixels, $colorScheme",
    { tags: "extended" },
    async ({ width, colorScheme }) => {
      await using opened = await site.openPage({ viewport: { width, height: 900 }, colorScheme });
      const { page } = opened;
      await signInOperator(site, page);
      await openSettled(page, `/console/admin/accounts/${person.accountId}`);
      await takePicture(page, `account-${width}-${colorScheme}`);
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
      await begin(page);
      for (const place of [
        "",
        "/tasks",
        `/tasks/${taskId}`,
        "/billing",
        "/settings",
        "/webhooks",
        "/requests",
        "/keys",
      ]) {
        await openSettled(page, `/console${place}`);
        await expect.poll(() => page.locator(".animate-pulse, [aria-busy=true]").count()).toBe(0);
        await takePicture(page, `view${place.replaceAll(/\W+/g, "-").slice(0, 16)}-${width}-${colorScheme}`);
        await expect.poll(() => listAxeFindings(page), { message: place }).toEqual([]);
        expect(await findLayoutFaults(page), place).toEqual([]);
      }
    },
  );
});

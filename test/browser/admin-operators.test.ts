import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWithKey } from "../harness/admin/admin-visitor.ts";
import { signInOperator } from "../harness/admin/signed-in-operator.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { takePicture } from "../harness/site/take-picture.ts";

describe.skipIf(!hasBrowser)("the pages of operators and admin keys", () => {
  let site: BrowsedSite;

  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function press(page: Page, button: string): Promise<void> {
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: button, exact: true }).click();
  }

  test("a key that a page creates calls the API until the page revokes it", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin/operators?view=keys");
    await page.getByText("No admin keys yet.").first().waitFor();
    await page.getByRole("button", { name: "Create admin key" }).click();
    await press(page, "Create");
    await page.getByRole("dialog").getByText(/name/i).first().waitFor();
    await page.getByRole("dialog").getByLabel("Name").fill("Billing export");
    await page.getByRole("dialog").getByLabel("All scopes").uncheck();
    await page.getByRole("dialog").getByLabel("Operators").check();
    await press(page, "Create");
    const shown = page.getByRole("region", { name: "Your new admin key" });
    const key = await shown.locator("code").innerText();
    expect(key).toMatch(/^sk-adm-/);
    await press(page, "Done");

    const client = openWithKey(site.gateway, key);
    expect((await client.get("/identity")).body).toMatchObject({ access: "read", scopes: ["operators"] });
    expect((await client.get("/operators")).status).toBe(200);
    expect((await client.get("/accounts")).body.error.code).toBe("operator_not_permitted");

    const row = page.getByRole("row", { name: /Billing export/ });
    expect(await row.innerText()).not.toContain(key);
    await row.getByRole("button", { name: "Revoke Billing export" }).click();
    await press(page, "Revoke");
    await row.getByText("Revoked").first().waitFor();
    const { status, body } = await client.get("/identity");
    expect([status, body.error.code]).toEqual([401, "revoked_api_key"]);
    expect(complaints.filter((line) => !line.includes("400"))).toEqual([]);
  });

  test("an operator adds a reader, changes the role and revokes it", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page } = opened;
    const own = await signInOperator(site, page);
    const email = await site.createPerson();
    await page.goto("/console/admin/operators");
    await page
      .getByRole("row", { name: new RegExp(own) })
      .getByText("(you)")
      .waitFor();
    await page.getByRole("button", { name: "Add operator" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Email").fill("stranger@example.com");
    await press(page, "Add");
    await dialog
      .getByText(/There is no user stranger@example.com/)
      .first()
      .waitFor();
    await dialog.getByLabel("Email").fill(email);
    await press(page, "Add");
    const row = page.getByRole("row", { name: new RegExp(email) });
    await row.getByText("Reader").first().waitFor();
    await row.getByText("No two-step sign-in").first().waitFor();
    await row.getByRole("button", { name: `Change the role of ${email}` }).click();
    await dialog.getByLabel("Role").selectOption("operator");
    await press(page, "Change role");
    await row.getByText("Operator", { exact: true }).first().waitFor();
    await row.getByRole("button", { name: `Revoke ${email}` }).click();
    await press(page, "Revoke");
    await row.waitFor({ state: "detached" });
    await page.goto("/console/admin/audit?action=operator");
    await page.getByText("operator.revoked").first().waitFor();
  });

  test("a reader sees the lists without the buttons", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    const own = await signInOperator(site, page, { role: "reader" });
    await page.goto("/console/admin/operators");
    await page.getByRole("row", { name: new RegExp(own) }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: /^(Add|Change|Revoke)/ }).count()).toBe(0);
  });

  test.for([
    { width: 1440, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
    { width: 1440, colorScheme: "dark" },
    { width: 390, colorScheme: "light" },
  ] as const)(
    "the pages pass axe and fit at $width pixels, $colorScheme",
    { tags: "extended" },
    async ({ width, colorScheme }) => {
      await using opened = await site.openPage({ viewport: { width, height: 900 }, colorScheme });
      const { page } = opened;
      await signInOperator(site, page);
      for (const view of ["operators", "keys"]) {
        await openSettled(page, `/console/admin/operators?view=${view}`);
        await expect.poll(() => page.locator(".animate-pulse, [aria-busy=true]").count()).toBe(0);
        await takePicture(page, `operators-${view}-${width}-${colorScheme}`);
        await expect.poll(() => listAxeFindings(page), { message: view }).toEqual([]);
        expect(await findLayoutFaults(page), view).toEqual([]);
        await page.getByRole("button", { name: /^(Add operator|Create admin key)$/ }).click();
        await page.getByRole("dialog").waitFor();
        await takePicture(page, `operators-${view}-dialog-${width}-${colorScheme}`);
        await expect.poll(() => listAxeFindings(page), { message: view }).toEqual([]);
      }
    },
  );
});

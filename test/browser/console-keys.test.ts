import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endpointScopes } from "../../src/platform/http/endpoint-table.ts";
import {
  type BrowsedSite,
  expireSessionAtNextChange,
  fillSignIn,
  listAxeFindings,
  startBrowsedSite,
} from "../harness/site/browsed-site.ts";
import { hasBrowser, launchBrowser } from "../harness/site/browser.ts";
import { signInByCookie } from "../harness/site/signed-in-page.ts";
import { goodPassword } from "../harness/site/site-visitor.ts";
import { waitUntil } from "../harness/wait-until.ts";

const hourMs = 60 * 60_000;
const elevenMinutesMs = 11 * 60_000;

describe.skipIf(!hasBrowser)("the API keys page", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** The page of a new person who has just signed in. */
  async function openKeys({ width = 1440, path = "/console/keys" } = {}) {
    const email = await site.createPerson();
    const opened = await site.openPage({ viewport: { width, height: 900 }, reducedMotion: "reduce" });
    await signInByCookie(site, opened.page, email);
    await opened.page.goto(path);
    await opened.page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    return { ...opened, email };
  }

  /** The status of an API call with the key. */
  async function callWith(key: string): Promise<number> {
    const answer = await fetch(`${site.siteUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    await answer.body?.cancel();
    return answer.status;
  }

  /** Waits for a key to be shown, and returns it. */
  async function keepKey(page: Page): Promise<string> {
    const key = await page
      .getByRole("dialog")
      .getByRole("region", { name: "Your new key" })
      .locator("code")
      .textContent();
    const [text = ""] = /sk-slc-\w+/.exec(key ?? "") ?? [];
    expect(text).toMatch(/^sk-slc-\w{36}$/);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return text;
  }

  const table = (page: Page, name = "API keys") => page.getByRole("region", { name, exact: true });
  const row = (page: Page, text: string) => table(page).getByRole("row").filter({ hasText: text });

  test.for(["light", "dark"] as const)(
    "a dialog shades the whole window, also the room for a scrollbar, in %s",
    async (colorScheme) => {
      const browser = await launchBrowser({ hasScrollbars: true });
      try {
        // Higher than the page, so that nothing scrolls.
        const viewport = { width: 900, height: 1600 };
        const page = await browser.newPage({ baseURL: site.siteUrl, colorScheme, viewport });
        await signInByCookie(site, page, await site.createPerson());
        await page.goto("/console/keys");
        await page.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
        expect(await page.evaluate("document.body.getBoundingClientRect().right")).toBeLessThan(viewport.width);
        await page.getByRole("button", { name: "Create key" }).first().click();
        await page.getByRole("dialog").waitFor();
        const clip = { x: viewport.width - 40, y: 1500, width: 40, height: 1 };
        const { data } = await sharp(await page.screenshot({ clip }))
          .removeAlpha()
          .raw()
          .toBuffer({ resolveWithObject: true });
        const [beside, inside] = [data.subarray(0, 3), data.subarray(-3)];
        for (const [index, part] of beside.entries()) expect(Math.abs(part - Number(inside[index]))).toBeLessThan(3);
      } finally {
        await browser.close();
      }
    },
  );

  test("a key is created, works, is rotated with an overlap, and stops working once revoked", async () => {
    await using opened = await openKeys();
    const { page } = opened;
    await page.getByRole("button", { name: "Create key" }).first().click();
    await page.getByLabel("Name").fill("Server");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await expect
      .poll(() => page.getByRole("region", { name: "First call" }).textContent())
      .toContain(`${site.siteUrl}/v1/`);
    const first = await keepKey(page);
    expect(await callWith(first)).toBe(200);
    await row(page, first.slice(-4)).waitFor();
    expect(await page.content()).not.toContain(first);

    await page.getByRole("link", { name: "Server" }).click();
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByLabel("Old key expires").selectOption({ label: "In an hour" });
    await page.getByRole("button", { name: "Create new key" }).click();
    const second = await keepKey(page);
    expect([await callWith(first), await callWith(second)]).toEqual([200, 200]);
    await row(page, first.slice(-4)).getByText("Expires soon").first().waitFor();
    site.clock.advance(hourMs);
    expect([await callWith(first), await callWith(second)]).toEqual([401, 200]);

    await page.reload();
    await page.getByRole("link", { name: "Server" }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByLabel("Type Server to confirm").fill("Serve");
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.locator("[name=confirmation][aria-invalid=true]").waitFor();
    expect(await callWith(second)).toBe(200);
    await page.getByLabel("Type Server to confirm").fill("Server");
    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("Key revoked.").first().waitFor();
    await waitUntil("the key is refused", async () => (await callWith(second)) === 401);
    await page.getByRole("link", { name: "Server" }).waitFor({ state: "detached" });
    await page.getByLabel("Show expired and revoked").check();
    await table(page, "Expired and revoked keys").getByText("Revoked", { exact: true }).first().waitFor();
    await table(page, "Expired and revoked keys").getByText("Expired", { exact: true }).first().waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("errors are shown at their fields, also under more limits, and typed values stay", async () => {
    await using opened = await openKeys({ path: "/console/keys?key=new" });
    const { page } = opened;
    const wrong = (name: string) => page.locator(`[name=${name}][aria-invalid=true]`);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await wrong("name").waitFor();
    await page.getByLabel("Name").fill("Report");
    await page.getByLabel("Budget in USD").fill("a lot");
    await page.getByText("More limits").click();
    await page.getByLabel("Requests per minute").fill("0.5");
    await page.getByLabel("Addresses").fill("10.0.0.1\n10.0.0.300");
    await page.getByText("More limits").click();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await wrong("requests_per_minute").waitFor();
    await page.getByLabel("Requests per minute").fill("60");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await wrong("budget_amount").waitFor();
    await page.getByLabel("Budget in USD").fill("12.50");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await wrong("addresses").waitFor();
    await page.getByText("10.0.0.300 is not an IP address or network.").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);

    await expireSessionAtNextChange(page);
    await page.getByLabel("Addresses").fill("10.0.0.1");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.waitForURL(/\/sign-in\?next=%2Fconsole%2Fkeys%3Fkey%3Dnew$/);
    await fillSignIn(page, opened.email);
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Report");
    await expect.poll(() => page.getByLabel("Budget in USD").inputValue()).toBe("12.50");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await keepKey(page);
    await expect.poll(() => page.evaluate("JSON.stringify(sessionStorage)")).not.toContain("Report");
    await row(page, "Report").getByText("$0.00 of $12.50 a month").first().waitFor();
    await row(page, "Report").getByText("10.0.0.1 · 1 limit").first().waitFor();
  });

  test("a key is limited to the ticked scopes, and a change sends only the changed fields", async () => {
    await using opened = await openKeys({ path: "/console/keys?key=new" });
    const { page } = opened;
    await page.getByLabel("Name").fill("Narrow");
    await page.getByText("More limits").click();
    await page.getByLabel("All endpoints").uncheck();
    const endpoints = page.getByRole("group", { name: "Endpoints" });
    await expect.poll(() => endpoints.getByRole("checkbox").count()).toBe(endpointScopes.length + 1);
    await endpoints.getByLabel("Balance and statement").check();
    await page.getByLabel("Expires").selectOption({ label: "In 30 days" });
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const key = await keepKey(page);
    expect(await callWith(key)).toBe(403);
    await page.getByRole("link", { name: "Narrow" }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("All endpoints").check();
    const sent = page.waitForRequest((request) => request.method() === "PATCH");
    await page.getByRole("button", { name: "Save" }).click();
    expect((await sent).postDataJSON()).toEqual({ endpoints: null });
    await page.getByText("Key updated.").first().waitFor();
    await waitUntil("the key may do more", async () => (await callWith(key)) === 200);
  });

  test("creating a key needs reauthentication, and Escape does not lose it", async () => {
    await using opened = await openKeys({ path: "/console/keys?key=new" });
    const { page } = opened;
    site.clock.advance(elevenMinutesMs);
    await page.getByLabel("Name").fill("Late");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const proof = page.getByRole("dialog", { name: "Confirm your password to continue" });
    await proof.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Nothing was changed").first().waitFor();
    await expect.poll(() => page.getByLabel("Name").inputValue()).toBe("Late");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await proof.getByLabel("Password", { exact: true }).fill(goodPassword);
    await proof.getByRole("button", { name: "Confirm" }).click();
    await page.getByRole("button", { name: "Done" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("alert").getByText("Press Escape again").first().waitFor();
    expect(await callWith(await keepKey(page))).toBe(200);
  });

  test("the console's own key is labelled, and can be neither rotated nor revoked", { tags: "extended" }, async () => {
    await using opened = await openKeys();
    const { page } = opened;
    // It is created with the page's first API call.
    await page.getByRole("link", { name: "Available balance $0.00" }).waitFor();
    await page.reload();
    await page.getByText("No API keys yet").first().waitFor();
    await row(page, "This console").getByRole("link").click();
    await page.getByText("Authenticates your calls from this console").first().waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Rotate" }).count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "Revoke" }).count()).toBe(0);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Budget in USD").fill("3");
    await expect.poll(() => page.getByLabel("Name").count()).toBe(0);
    await page.getByRole("button", { name: "Save" }).click();
    await row(page, "This console").getByText("of $3.00 a month").first().waitFor();
  });

  test("a key can be created by keyboard in a narrow window that does not scroll sideways", {
    tags: "extended",
  }, async () => {
    await using opened = await openKeys({ width: 390 });
    const { page } = opened;
    await page.getByRole("button", { name: "Create key" }).first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("By keyboard");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Done" }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
    await keepKey(page);
    await row(page, "By keyboard").waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await page.getByRole("link", { name: "By keyboard" }).press("Enter");
    await page.getByRole("button", { name: "Edit" }).waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("a list that fails to load shows the error, and loads on retry", { tags: "extended" }, async () => {
    await using opened = await openKeys();
    const { page } = opened;
    await page.route("**/console/api/keys?*", (route) =>
      route.fulfill({ status: 400, json: { error: { message: "Not now.", code: "invalid_parameter" } } }),
    );
    // The change stream would reload the list; blocking it leaves the button as the only way.
    await page.route("**/console/api/changes*", () => {});
    await page.getByRole("link", { name: "Available balance $0.00" }).waitFor();
    await page.reload();
    await page.getByRole("alert").getByText("Not now.").first().waitFor();
    await page.unroute("**/console/api/keys?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await row(page, "This console").waitFor();
  });
});

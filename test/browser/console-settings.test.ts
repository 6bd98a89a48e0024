// @module-tag extended
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BrowsedSite,
  expireSessionAtNextChange,
  fillSignIn,
  listAxeFindings,
  startBrowsedSite,
} from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { signInByCookie } from "../harness/site/signed-in-page.ts";

describe.skipIf(!hasBrowser)("the settings", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** The page of a new person who has just signed in, with a browser in Berlin. */
  async function openSettings({ width = 1440, path = "/console/settings" } = {}) {
    const email = await site.createPerson();
    const opened = await site.openPage({
      viewport: { width, height: 900 },
      reducedMotion: "reduce",
      timezoneId: "Europe/Berlin",
    });
    await signInByCookie(site, opened.page, email);
    await opened.page.goto(path);
    await opened.page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    return { ...opened, email };
  }

  const save = (page: Page) => page.getByRole("button", { name: "Save profile" }).click();

  test("name and time zone are saved, and the browser's zone is offered", async () => {
    await using opened = await openSettings();
    const { page } = opened;
    await page.getByText(`You sign in as ${opened.email}.`).first().waitFor();
    await page.getByLabel("Name", { exact: true }).fill("  Ada Lovelace ");
    await page.getByRole("button", { name: "Use Europe/Berlin" }).click();
    await expect.poll(() => page.getByRole("button", { name: "Use Europe/Berlin" }).count()).toBe(0);
    await save(page);
    await page.getByText("Profile saved.").first().waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada Lovelace");
    await expect.poll(() => page.getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
    const answer = await page.request.get("/console/api/session");
    expect(await answer.json()).toMatchObject({
      user: { name: "Ada Lovelace" },
      account: { time_zone: "Europe/Berlin" },
    });
    await page.getByLabel("Name", { exact: true }).fill("Countess");
    await save(page);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Profile restored.").first().waitFor();
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada Lovelace");
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("a zone can be searched, an unknown one is rejected at its field, and input outlives a session", async () => {
    await using opened = await openSettings();
    const { page } = opened;
    const zone = page.getByLabel("Time zone");
    const offered = `[...document.querySelector("[name=time_zone]").list.options].map(({ value }) => value)`;
    await expect
      .poll(() => page.evaluate(offered))
      .toEqual(expect.arrayContaining(["UTC", "Asia/Tokyo", "America/New_York"]));
    await zone.fill("Mars/Olympus");
    await page.getByLabel("Name", { exact: true }).fill("Ada");
    await save(page);
    await page.locator("[name=time_zone][aria-invalid=true]").waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await expireSessionAtNextChange(page);
    await zone.fill("Asia/Tokyo");
    await save(page);
    await page.waitForURL(/\/sign-in\?next=%2Fconsole%2Fsettings$/);
    await fillSignIn(page, opened.email);
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await expect.poll(() => zone.inputValue()).toBe("Asia/Tokyo");
    await save(page);
    await page.getByText("Profile saved.").first().waitFor();
    await expect.poll(() => page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada");
  });

  test("the former address redirects here, and the page's list links to each section", async () => {
    await using opened = await openSettings({ path: "/security" });
    const { page } = opened;
    await page.waitForURL(`${site.siteUrl}/console/settings`);
    const contents = page.getByRole("navigation", { name: "On this page" });
    for (const name of ["Profile", "Passkeys", "Authenticator app", "Password", "Sessions", "Connected programs"]) {
      await contents.getByRole("link", { name }).press("Enter");
      const heading = page.getByRole("heading", { name, exact: true, level: 2 });
      await heading.waitFor();
      const { y = -1 } = (await heading.boundingBox()) ?? {};
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThan(900);
    }
    expect(new URL(page.url()).hash).toBe("#programs");
    expect(opened.complaints).toEqual([]);
  });

  test("axe finds nothing, and no window scrolls sideways", async () => {
    await using opened = await openSettings();
    const { page } = opened;
    await page.getByText("No program is connected.").first().waitFor();
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await expect
        .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
        .toBeLessThanOrEqual(0);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
  });
});

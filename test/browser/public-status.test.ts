import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openIncident, updateIncident } from "../../src/features/status/index.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { waitUntil } from "../harness/wait-until.ts";

const dayMs = 24 * 60 * 60_000;
const sizes = [
  { name: "1440-light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { name: "390-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;

describe.skipIf(!hasBrowser)("the status page", () => {
  let site: BrowsedSite;

  const presentDay = (age: number): string =>
    new Date(site.clock.now().getTime() - age * dayMs).toISOString().slice(0, 10);

  beforeAll(async () => {
    site = await startBrowsedSite();
    const { database, parts } = site.gateway;
    const models = [
      ["sandbox-chat", 0],
      ["sandbox-image", 0.03],
      ["sandbox-video", 0.2],
    ] as const;
    const rows = models.flatMap(([subject, share]) =>
      Array.from({ length: 60 }, (_, age) => ({
        ...{ day: presentDay(age), kind: "model", subject, calls: age % 7 === 3 ? 5n : 1000n },
        failed: age % 9 === 1 ? BigInt(Math.round((age % 7 === 3 ? 5 : 1000) * share)) : 0n,
      })),
    );
    await database
      .insertInto("traffic_days")
      .values([...rows, { day: presentDay(0), kind: "endpoint", subject: "chat", calls: 2000n, failed: 1n }])
      .execute();
    const dependencies = { ...parts, hasModel: () => true };
    const words = { title: "Slow videos", message: "We are looking into it.\nNext update in an hour.", actor: "ada" };
    const { id } = await openIncident(dependencies, { ...words, state: "investigating", modelIds: ["sandbox-video"] });
    await updateIncident(dependencies, id, { state: "identified", message: "A queue is full.", actor: "ada" });
    const past = await openIncident(dependencies, { ...words, title: "Outage", state: "investigating", modelIds: [] });
    await updateIncident(dependencies, past.id, { state: "resolved", message: "All is well.", actor: "ada" });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.each(sizes)("shows bars and incidents, and fits $name without axe or console errors", async (size) => {
    await using opened = await site.openPage({ viewport: size.viewport, colorScheme: size.colorScheme });
    const { page } = opened;
    await page.goto("/status");
    await page.getByText("Some systems are degraded").first().waitFor();
    await page.getByRole("heading", { name: "Slow videos" }).waitFor();
    await page.getByRole("heading", { name: "Outage" }).waitFor();
    await expect.poll(() => page.getByRole("img", { name: /^90 days: / }).count()).toBeGreaterThan(3);
    await expect.poll(() => findLayoutFaults(page)).toEqual([]);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    const folder = process.env.SHOTS;
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `status-${size.name}.png`), fullPage: true });
    }
    expect(opened.complaints).toEqual([]);
  });

  test("shows its data without scripts, and does not move when they take over", async () => {
    const size = { viewport: { width: 1440, height: 900 } };
    // A page is sent without data rather than late.
    await waitUntil("the data in the page", async () =>
      (await (await fetch(`${site.siteUrl}/status`)).text()).includes("Some systems are degraded"),
    );
    await using silent = await site.openPage({ ...size, javaScriptEnabled: false });
    await silent.page.goto("/status");
    await silent.page.getByText("Some systems are degraded").first().waitFor();
    await silent.page.getByRole("heading", { name: "Slow videos" }).waitFor();
    await expect.poll(() => silent.page.getByRole("img", { name: /^90 days: / }).count()).toBeGreaterThan(3);
    await expect.poll(() => silent.page.locator(".animate-pulse:visible").count()).toBe(0);
    await expect.poll(() => findLayoutFaults(silent.page)).toEqual([]);
    const sent = await silent.page.locator("main").innerText();

    await using opened = await site.openPage(size);
    const { page } = opened;
    const scripts = Promise.withResolvers<void>();
    await page.route("**/assets/*.js", async (route) => {
      await scripts.promise;
      await route.continue();
    });
    const going = page.goto("/status");
    await page.getByText("Some systems are degraded").first().waitFor();
    const before = await page.locator("main").evaluate(listPlaces);
    // A loading placeholder between both would be one of these.
    await page.evaluate(watchPlaceholders);
    scripts.resolve();
    await going;
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    expect(await page.locator("main").evaluate(listPlaces)).toEqual(before);
    expect(await page.locator("main").innerText()).toBe(sent);
    expect(await page.evaluate("window.placeholdersSeen")).toBe(0);
    expect(opened.complaints).toEqual([]);
  });

  test("is linked from every page, and its links work before the scripts load", async () => {
    await using opened = await site.openPage({ javaScriptEnabled: false });
    const { page } = opened;
    await page.goto("/");
    await page.getByRole("link", { name: "Status", exact: true }).click();
    await page.getByRole("heading", { name: "Status", exact: true }).waitFor();
    const [response] = await Promise.all([
      page.waitForResponse((answer) => answer.url().endsWith("/status/feed.xml")),
      page
        .getByRole("link", { name: "RSS feed of incidents" })
        .click({ noWaitAfter: true })
        .catch(() => {}),
    ]);
    expect(response.status()).toBe(200);
  });
});

/** Text, because the test's types do not cover the page. */
const listPlaces = `(main) => [...main.querySelectorAll("h1, h2, h3, p, svg, dt, dd")].map((each) => {
  const { left, top, width, height } = each.getBoundingClientRect();
  return [each.tagName, left, top, width, height].join(" ");
})`;

const watchPlaceholders = `(() => {
  window.placeholdersSeen = 0;
  const count = () => { window.placeholdersSeen += document.querySelectorAll("main .animate-pulse, main [aria-busy=true]").length; };
  new MutationObserver(count).observe(document.getElementById("site"), { childList: true, subtree: true });
})()`;

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signInOperator } from "../harness/admin/signed-in-operator.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";

describe.skipIf(!hasBrowser)("the operators' pages about trouble", () => {
  let site: BrowsedSite;

  beforeAll(async () => {
    site = await startBrowsedSite();
    const now = site.clock.now();
    const { database, parts } = site.gateway;
    const alarm = { rule: "model-errors", state: "firing", value_milli: 40_000n, began_at: now, met_at: now };
    await database
      .insertInto("alarms")
      .values([
        {
          ...alarm,
          id: parts.ids.next("alarm"),
          subject: "sandbox-chat",
          message: "40 of 100 calls of sandbox-chat failed.",
        },
        {
          ...alarm,
          id: parts.ids.next("alarm"),
          subject: "sandbox-image",
          message: "30 of 60 calls of sandbox-image failed.",
        },
      ])
      .execute();
    const row = { network: "203.0.113.7", mail_domain: "example.com", account_id: null, created_at: now };
    await database
      .insertInto("sign_ups")
      .values([
        { ...row, id: parts.ids.next("sup"), refusal: "network-limit" },
        { ...row, id: parts.ids.next("sup"), refusal: "disposable", network: "2001:db8:1:2::/64" },
      ])
      .execute();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const navigate = (page: Page, name: string) =>
    page.getByRole("navigation", { name: "Operator" }).getByRole("link", { name }).click();

  test("an operator writes and closes an incident, which customers read", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console");
    await navigate(page, "Incidents");
    await page.getByText("No incidents yet.").first().waitFor();
    await page.getByRole("button", { name: "Write incident" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Publish" }).click();
    await dialog.getByRole("textbox", { name: "Title" }).and(page.locator("[aria-invalid=true]")).waitFor();
    await dialog.getByLabel("Title").fill("Slow videos");
    await dialog.getByLabel("Message").fill("We are looking into it.");
    await dialog.getByLabel("Affected models").fill("sandbox-video");
    await dialog.getByRole("button", { name: "Publish" }).click();
    await dialog.waitFor({ state: "detached" });
    const incident = page.getByRole("listitem").filter({ hasText: "Slow videos" }).first();
    await incident.getByText("Investigating").first().waitFor();

    await using visitor = await site.openPage();
    await visitor.page.goto("/status");
    await visitor.page.getByRole("heading", { name: "Current incidents" }).waitFor();
    await visitor.page.getByText("We are looking into it.").first().waitFor();

    await incident.getByRole("button", { name: "Add update" }).click();
    await dialog.getByLabel("Status").selectOption("resolved");
    await dialog.getByLabel("Message").fill("Videos are as fast as before.");
    await dialog.getByRole("button", { name: "Publish" }).click();
    await dialog.waitFor({ state: "detached" });
    await incident.getByText("Resolved").first().waitFor();
    await expect.poll(() => incident.getByRole("button", { name: "Add update" }).count()).toBe(0);
    // The page's data is at most half a minute old.
    site.clock.advance(30_000);
    await visitor.page.reload();
    await visitor.page.getByText("Videos are as fast as before.").first().waitFor();
    await expect.poll(() => visitor.page.getByRole("heading", { name: "Current incidents" }).count()).toBe(0);
    expect([...complaints, ...visitor.complaints]).toEqual([]);
  });

  test("an operator acknowledges an alarm, changes a threshold and blocks a network", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    const operator = await signInOperator(site, page);
    await page.goto("/console");
    await navigate(page, "Alarms");
    await page.getByRole("row").filter({ hasText: "sandbox-chat" }).getByRole("link").click();
    await page.getByRole("button", { name: "Acknowledge" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Note").fill("On it");
    await dialog.getByRole("button", { name: "Acknowledge" }).click();
    await dialog.waitFor({ state: "detached" });
    const history = page.getByRole("region", { name: "History", exact: true });
    await history.getByText("On it").first().waitFor();
    await expect.poll(() => history.getByText(operator).count()).toBe(1);

    await navigate(page, "Alarms");
    await page.getByRole("button", { name: "Change Due tasks wait for a worker" }).click();
    await dialog.getByLabel("Threshold, in seconds").fill("0");
    await dialog.getByRole("button", { name: "Save rule" }).click();
    await dialog.getByText("The threshold must be from 1 to").first().waitFor();
    await dialog.getByLabel("Threshold, in seconds").fill("300");
    await dialog.getByRole("button", { name: "Save rule" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("above 300 seconds").first().waitFor();

    await navigate(page, "Abuse");
    await page.getByRole("button", { name: "Block 203.0.113.7" }).click();
    await dialog.getByLabel("Reason").fill("card testing");
    await dialog.getByRole("button", { name: "Block", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    const blocks = page.getByRole("region", { name: "Blocks", exact: true });
    await blocks.getByText("203.0.113.7").first().waitFor();
    await blocks.getByRole("button", { name: "Remove the block of 203.0.113.7" }).click();
    await blocks.getByText("No blocks of this kind.").first().waitFor();
    expect(complaints).toEqual([]);
  });

  test.for([
    { width: 1440, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
  ] as const)(
    "pages pass axe and fit at $width pixels, $colorScheme",
    { tags: "extended" },
    async ({ width, colorScheme }) => {
      await using opened = await site.openPage({ viewport: { width, height: 900 }, colorScheme });
      const { page } = opened;
      await signInOperator(site, page);
      await openSettled(page, "/console/admin/alarms");
      const alarm = await page.getByRole("link", { name: "Calls of a model fail" }).first().getAttribute("href");
      for (const place of ["alarms", "incidents", "abuse", alarm?.replace(/^\/console\/admin\//, "") ?? ""]) {
        await openSettled(page, `/console/admin/${place}`);
        await expect.poll(() => page.locator(".animate-pulse, [aria-busy=true]").count()).toBe(0);
        const folder = process.env.SHOTS;
        if (folder !== undefined) {
          mkdirSync(folder, { recursive: true });
          await page.screenshot({
            path: join(folder, `${place.split("/")[0]}${place.includes("/") ? "-one" : ""}-${width}.png`),
            fullPage: true,
          });
        }
        await expect.poll(() => listAxeFindings(page), { message: place }).toEqual([]);
        await expect.poll(() => findLayoutFaults(page), { message: place }).toEqual([]);
      }
    },
  );
});

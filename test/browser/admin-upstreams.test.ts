import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertUpstreamEvents } from "../../src/features/catalog/upstream-history-store.ts";
import { putVendorBalance } from "../../src/features/catalog/vendor-balance-store.ts";
import { putLimits } from "../../src/features/catalog/vendor-limit-store.ts";
import { signInOperator } from "../harness/admin/signed-in-operator.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { type FakeUpstreams, startFakeUpstreams } from "../harness/upstreams/fake-upstreams.ts";

const goodKey = "plain-good-words";

/** In this order: each journey starts where the one before ended. */
describe.skipIf(!hasBrowser)("the operator's upstreams and catalog", () => {
  let site: BrowsedSite;
  let fakes: FakeUpstreams;
  beforeAll(async () => {
    fakes = await startFakeUpstreams({ keys: [goodKey] });
    site = await startBrowsedSite();
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await fakes[Symbol.asyncDispose]();
  });

  const explain = async (page: Page, reason: string, name: string) => {
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };

  test("OpenAI is added from nothing to a first paid call without a terminal", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin");
    await page.getByRole("heading", { name: "Set up", level: 1 }).waitFor();
    await page.getByRole("link", { name: "Add a vendor" }).click();
    await page.getByLabel("Vendor").selectOption("openai");
    await page.getByLabel("Base URL (optional)").fill(fakes.openAiUrl);
    const key = page.locator('input[name="value"]');
    await key.fill("plain-bad-words");
    await page.getByRole("button", { name: "Check and store" }).click();
    await page
      .getByText(/The key was not stored/)
      .first()
      .waitFor();
    await key.fill(goodKey);
    await page.getByRole("button", { name: "Check and store" }).click();
    await page.getByText("OPENAI_KEY is stored.").first().waitFor();
    await page.getByLabel("GPT-5.6 Sol (chat)").check();
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("region", { name: "Differences" }).getByText("gpt-5.6-sol").first().waitFor();
    await page.getByRole("button", { name: "Apply" }).click();
    await explain(page, "sell OpenAI", "Apply");
    await page.getByText("openai is live.").first().waitFor();

    const email = await site.createPerson({ credit: "5.00" });
    await using customer = await openSignedInPage(site, email);
    await customer.page.goto("/console/keys");
    const response = await customer.page.evaluate(async () => {
      const made = await fetch("/console/api/keys", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name: "first" }),
      });
      const { key: text } = (await made.json()) as { key: string };
      const answer = await fetch("/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${text}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "gpt-5.6-sol", messages: [{ role: "user", content: "Hi" }], max_tokens: 20 }),
      });
      return answer.status;
    });
    expect(response).toBe(200);
    await page.goto("/console/admin/setup");
    await page.getByText("A call was charged.").first().waitFor();
    expect(complaints).toEqual([]);
  });

  test("a price is raised with a look at last month's calls", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin/catalog");
    await page.getByRole("button", { name: "Change a price" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Model ID").fill("gpt-5.6-sol");
    await dialog.getByLabel("Input price").fill("0.5");
    await dialog.getByRole("button", { name: "Change the file" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText("The catalog is valid.").first().waitFor();
    await page.getByRole("button", { name: "What if" }).click();
    const whatIf = page.getByRole("region", { name: "What if" });
    await whatIf.getByText("gpt-5.6-sol").first().waitFor();
    await page.getByRole("button", { name: "Apply" }).click();
    await explain(page, "costs rose", "Apply");
    await page.getByText("This is the active version.").first().waitFor();
    await page.getByRole("link", { name: "History and schedule" }).click();
    await page.getByText("costs rose").first().waitFor();
    expect(complaints).toEqual([]);
  });

  test("mistakes are shown with their line while the operator types", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin/catalog");
    const file = page.getByLabel("Catalog file");
    await file.fill("currency: USD\nproviders: []\nmodel: []\n");
    await page
      .getByText(/problems?$/)
      .first()
      .waitFor();
    await page.getByText("There is no field model here.").first().waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("This is the active version.").first().waitFor();
  });

  test("a failing key is tested, disabled and enabled again", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin/upstreams");
    const row = page.getByRole("row").filter({ hasText: "OPENAI_KEY" }).filter({ hasText: "gpt-5.6-sol" });
    await row.getByRole("button", { name: "Test" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("openai works.").first().waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await row.getByRole("button", { name: "Disable" }).click();
    await explain(page, "it leaked", "Disable");
    await row.getByText("Disabled", { exact: true }).first().waitFor();
    await row.getByRole("button", { name: "Enable" }).click();
    await explain(page, "rotated", "Enable");
    await row.getByText("Healthy").first().waitFor();
    expect(complaints).toEqual([]);
  });

  test("the weight of a route is changed by a form that shows the difference, by keyboard alone", async () => {
    await using opened = await site.openPage({ viewport: { width: 390, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin/upstreams");
    const row = page.getByRole("row").filter({ hasText: "OPENAI_KEY" }).filter({ hasText: "gpt-5.6-sol" });
    await row.getByRole("button", { name: "Weight" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Priority").fill("1001");
    await dialog.getByLabel("Weight").fill("30");
    await dialog.getByLabel("Weight").press("Enter");
    await dialog.locator('input[name="priority"][aria-invalid="true"]').waitFor();
    await dialog.getByLabel("Priority").fill("2");
    await dialog.getByRole("button", { name: "Review the change" }).press("Enter");
    const difference = dialog.getByRole("region", { name: "Differences" });
    await difference.getByText("priority: 2").first().waitFor();
    await difference.getByText("weight: 30").first().waitFor();
    await explain(page, "second choice", "Apply");
    await page.goto("/console/admin/catalog/history");
    await page.getByText("second choice").first().waitFor();
    expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([]);
  });

  test("what happened to upstreams is listed in pages, and limits and balances are shown", async () => {
    const { database } = site.gateway;
    const at = new Date();
    const circuit = {
      providerId: "openai",
      upstreamModel: "gpt-5.6-sol",
      keyNumber: 0,
      actor: null,
      detail: "timeout",
    };
    await insertUpstreamEvents(
      database,
      Array.from({ length: 25 }, (_, index) => ({
        ...{ ...circuit, kind: index % 2 === 0 ? ("circuit_opened" as const) : ("circuit_closed" as const) },
        at: new Date(at.getTime() - index * 60_000),
      })),
    );
    const place = { providerId: "openai", upstreamModel: "gpt-5.6-sol", keyNumber: 0 };
    const resetsAt = null;
    await putLimits(database, [
      { ...place, name: "tokens", most: 30_000_000, remaining: 29_000, resetsAt, seenAt: at },
    ]);
    const key = { providerId: "openai", keyNumber: 0, askedAt: at };
    await putVendorBalance(database, key, { amountNano: 3_200_000_000n, currency: "USD" });
    await putVendorBalance(database, key, { failure: "key-refused (401): Invalid key" });
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto("/console/admin/upstreams");
    await page.getByText("29,000 of 30,000,000 left").first().waitFor();
    const balances = page.getByRole("region", { name: "Balances at vendors" });
    await balances.getByText("3.20 USD").first().waitFor();
    await balances.getByText("Invalid key").first().waitFor();
    const events = page.getByRole("region", { name: "What happened" });
    await events.getByText("Circuit opened").first().waitFor();
    const rows = events.getByRole("row");
    const before = await rows.count();
    await events.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(before);
    await events.getByText("Test passed").first().waitFor();
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
      for (const place of ["setup", "upstreams", "upstreams/add?vendor=openai", "catalog", "catalog/history"]) {
        await openSettled(page, `/console/admin/${place}`);
        await expect.poll(() => page.locator(".animate-pulse, [aria-busy=true]").count()).toBe(0);
        await expect.poll(() => listAxeFindings(page), { message: place }).toEqual([]);
        expect(await findLayoutFaults(page), place).toEqual([]);
      }
    },
  );
});

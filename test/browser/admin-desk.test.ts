import { readFileSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyTerms } from "../../src/features/invoices/index.ts";
import { insertFailedDelivery } from "../harness/admin/failed-delivery.ts";
import { signInOperator } from "../harness/admin/signed-in-operator.ts";
import { type StripeServer, startStripeServer } from "../harness/servers/stripe-server.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { type ConsolePerson, createConsolePerson } from "../harness/site/console-person.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { takePicture } from "../harness/site/take-picture.ts";
import { createRunningClock } from "../harness/test-clock.ts";

const dayMs = 24 * 60 * 60_000;

describe.skipIf(!hasBrowser)("the operators' desk", () => {
  let stripe: StripeServer;
  let site: BrowsedSite;
  let person: ConsolePerson;
  let taskId: string;
  let eventId: string;
  let paymentId: string;
  let yesterday: string;

  beforeAll(async () => {
    stripe = await startStripeServer({ clock: createRunningClock() });
    site = await startBrowsedSite({ hasRunningClock: true, stripe });
    person = await createConsolePerson(site);
    const { gateway } = site;
    const task = { model: "sandbox-image", size: "512x512", prompt: "Endless [[stuck]]" };
    taskId = (await person.call("POST", "/images/generations", task)).id;
    eventId = await insertFailedDelivery(gateway, person.accountId, "http://127.0.0.1:9/hook");
    const { database, parts } = gateway;
    const now = parts.clock.now();
    // Yesterday's noon: the gateway's own job counts the last minutes again.
    yesterday = new Date(now.getTime() - dayMs).toISOString().slice(0, 10);
    const slotAt = new Date(`${yesterday}T12:00:00Z`);
    await database
      .insertInto("traffic_slots")
      .values({ slot_at: slotAt, kind: "endpoint", subject: "chat", calls: 40n, failed: 7n })
      .execute();
    const source = 'seller: {name: Seller, address: Street 1, country: DE}\ntax: [{country: "*", rate: 19}]';
    await applyTerms({ database, clock: parts.clock }, { source, actor: "test" });
    await pay();
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await stripe[Symbol.asyncDispose]();
  });

  /** A payment of the person, through Stripe's checkout. */
  async function pay(): Promise<void> {
    await using opened = await openSignedInPage(site, person.email);
    await openSettled(opened.page, "/console");
    const { id } = await opened.page.evaluate(async () => {
      const response = await fetch("/console/api/checkouts", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ amount: "20" }),
      });
      return (await response.json()) as { id: string };
    });
    paymentId = id;
    const session = stripe.find(id);
    stripe.pay(session);
    const signed = stripe.sign(stripe.createEvent("checkout.session.completed", session));
    await fetch(`${site.gateway.siteUrl}/payments/stripe`, { method: "POST", ...signed });
  }

  async function explain(page: Page, button: string, reason: string): Promise<void> {
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill(reason);
    await dialog.getByRole("button", { name: button }).click();
    await dialog.waitFor({ state: "detached" });
  }

  test("an operator goes from a day's errors to their rows, refunds a payment, cancels a stuck task and re-delivers an event", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    await page.goto(`/console/admin/today?day=${yesterday}`);
    await page.getByRole("heading", { name: "Today", level: 1 }).waitFor();
    await page.getByRole("link", { name: /Errors.*7/s }).click();
    await page.waitForURL(/requests\?.*status=5xx/);
    await page.getByRole("heading", { name: "All requests", level: 1 }).waitFor();

    const navigation = page.getByRole("navigation", { name: "Operator" });
    await navigation.getByRole("link", { name: "Money" }).click();
    await page.locator(`a[href*="payments/${paymentId}"]`).click();
    await page.getByRole("heading", { name: "Payment of $20.00", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByRole("dialog").getByLabel("Amount (USD)").fill("5.00");
    await explain(page, "Refund", "double payment");
    await page.getByRole("region", { name: "Refunds and disputes" }).getByText("$5.00").first().waitFor();
    await page.getByRole("region", { name: "Audit log" }).getByText("payment.refunded").first().waitFor();

    await navigation.getByRole("link", { name: "Tasks and webhooks" }).click();
    await page.locator(`a[href*="tasks/${taskId}"]`).click();
    await page.getByRole("button", { name: "Cancel task" }).click();
    await explain(page, "Cancel task", "stuck for an hour");
    await page.getByRole("region", { name: "Audit log" }).getByText("task.canceled").first().waitFor();

    await navigation.getByRole("link", { name: "Tasks and webhooks" }).click();
    await page.getByRole("tab", { name: "Webhooks" }).click();
    await page
      .getByRole("button", { name: `Deliver ${eventId} again` })
      .first()
      .click();
    await explain(page, "Deliver again", "receiver repaired");
    expect(complaints).toEqual([]);
  });

  test("an operator finds a customer's invoice and downloads it, the books and the revenue", async () => {
    await using opened = await site.openPage({ viewport: { width: 1440, height: 900 } });
    const { page, complaints } = opened;
    await signInOperator(site, page);
    const download = async (link: Locator): Promise<{ name: string; text: string }> => {
      const [file] = await Promise.all([page.waitForEvent("download"), link.click()]);
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "latin1") };
    };
    await page.goto("/console/admin/money");
    await page.getByRole("tab", { name: "Invoices" }).click();
    const invoices = page.getByRole("region", { name: "Invoices, credit notes and statements" });
    await page.getByRole("searchbox", { name: "Account ID" }).fill(person.accountId);
    await page.waitForURL((url) => url.searchParams.get("account") === person.accountId);
    await page.getByRole("combobox", { name: "Kind" }).selectOption("invoice");
    await page.waitForURL((url) => url.searchParams.get("kind") === "invoice");
    await expect.poll(() => invoices.getByText("$20.00").count()).toBe(1);
    const link = invoices.getByRole("link", { name: /^INV-\d+ as PDF$/ });
    const invoice = await download(link);
    expect(invoice.text).toMatch(/^%PDF-/);
    expect(invoice.name).toBe(`${(await link.textContent())?.replace(" as PDF", "")}.pdf`);

    await page.getByRole("tab", { name: "Books" }).click();
    const today = site.gateway.parts.clock.now().toISOString().slice(0, 10);
    await page.getByLabel("Last day").fill("2000-01-01");
    await page.getByRole("alert").getByText("Choose a last day on or after the first.").first().waitFor();
    await expect.poll(() => page.getByRole("link", { name: /^Download/ }).count()).toBe(0);
    await page.getByLabel("First day").fill(yesterday);
    await page.getByLabel("Last day").fill(today);
    const books = await download(page.getByRole("link", { name: "Download entries" }));
    expect(books.name).toBe("books.csv");
    expect(books.text).toMatch(/^date,account,debit,credit\r\n\d{4}-\d\d-\d\d,/);
    const revenue = await download(page.getByRole("link", { name: "Download by month" }));
    expect([revenue.name, revenue.text.split("\r\n")[0]]).toEqual(["revenue.csv", expect.stringMatching(/^month,/)]);
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
      const views = [
        ...[
          "payments",
          "reversals",
          "documents",
          "entries",
          "revenue",
          "books",
          "margins",
          "codes",
          "frozen",
          "ledger",
        ],
      ];
      const places = [
        ...["today", `payments/${paymentId}`, `tasks/${taskId}`],
        ...views.map((view) => `money?view=${view}`),
        ...["tasks", "webhooks", "queues", "storage"].map((view) => `work?view=${view}`),
      ];
      for (const place of places) {
        await openSettled(page, `/console/admin/${place}`);
        await expect.poll(() => page.locator(".animate-pulse, [aria-busy=true]").count()).toBe(0);
        await takePicture(page, `${place.replaceAll(/\W+/g, "-")}-${width}`);
        await expect.poll(() => listAxeFindings(page), { message: place }).toEqual([]);
        expect(await findLayoutFaults(page), place).toEqual([]);
      }
    },
  );
});

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeAccount } from "../../src/app/change-account.ts";
import { createPlan } from "../../src/features/accounts/index.ts";
import { applyTerms } from "../../src/features/invoices/index.ts";
import { bookCredit, createCodes } from "../../src/features/ledger/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { createSpender, type Spender, toAmount } from "../harness/chat/spender.ts";
import {
  type StripeDispute,
  type StripeServer,
  type StripeSession,
  startStripeServer,
} from "../harness/servers/stripe-server.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { createRememberedSignIns } from "../harness/site/remembered-sign-ins.ts";

const statementDays = "from=2026-03-01&to=2026-03-31";

describe.skipIf(!hasBrowser)("the billing page", () => {
  let stripe: StripeServer;
  let site: BrowsedSite;
  let signIns: ReturnType<typeof createRememberedSignIns>;
  let spender: Spender;
  let charged: string;

  beforeAll(async () => {
    stripe = await startStripeServer({ clock: systemClock });
    site = await startBrowsedSite({ hasRunningClock: true, stripe });
    signIns = createRememberedSignIns(site);
    spender = await createSpender(site);
    await spender.book({ kind: "top-up", amount: toAmount("5") }, new Date("2026-03-01T12:00:00Z"));
    charged = await spender.charge({
      at: new Date("2026-03-04T12:00:00Z"),
      ...{ model: "sandbox-chat", items: { input_tokens: 1000n }, rate: "0.000000001" },
    });
    const quotas = { text: 1000n, image: 4n, video: 0n };
    await createPlan(site.gateway.parts, { id: "pro", name: "Pro", limits: {}, period: "month", quotas });
    await changeAccount(site.gateway.parts, spender.accountId, { planId: "pro" });
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await stripe[Symbol.asyncDispose]();
  });

  async function openBilling(email: string, search = "") {
    return await signIns.open(email, `/console/billing${search}`);
  }

  async function createCode(kind: "cash" | "gift"): Promise<string> {
    const terms = { kind, amount: toAmount("2.5"), giftDays: kind === "gift" ? 30 : null, note: "", expiresAt: null };
    const parts = { ...site.gateway.parts, randomBytes, currency: "USD" };
    const [made] = await createCodes(parts, { ...terms, count: 1 });
    return made?.text ?? "";
  }

  /** Starts a payment on the page and stops before Stripe's page, like a slow browser. */
  async function beginPayment(page: Page, amount: string): Promise<StripeSession> {
    await page.route("https://checkout.stripe.com/**", (route) =>
      route.fulfill({ contentType: "text/html", body: "<h1>A page of Stripe's</h1>" }),
    );
    await page.getByLabel("Amount in USD").fill(amount);
    await page.getByRole("button", { name: "Pay by card" }).click();
    await page.getByRole("heading", { name: "A page of Stripe's" }).waitFor();
    const session = [...stripe.sessions.values()].find(({ url }) => url === page.url());
    if (session === undefined) throw new Error(`Stripe knows nothing of ${page.url()}.`);
    return session;
  }

  async function deliver(object: StripeSession | StripeDispute, type = "checkout.session.completed"): Promise<void> {
    const { body, headers } = stripe.sign(stripe.createEvent(type, object));
    const answer = await fetch(`${site.siteUrl}/payments/stripe`, { method: "POST", body, headers });
    expect(answer.status).toBe(200);
  }

  test("a card payment is in the balance as soon as Stripe reports it, and in both lists", async () => {
    const email = await site.createPerson();
    await using opened = await openBilling(email);
    const { page } = opened;
    const session = await beginPayment(page, "20,50");
    expect(session.amount_total).toBe(2050);
    stripe.pay(session);
    await page.goto(String(session.success_url));
    await page.getByText("Waiting for your payment of $20.50").first().waitFor();
    await page
      .getByRole("main")
      .getByText("Available balance", { exact: true })
      .locator("..")
      .getByText("$0.00")
      .first()
      .waitFor();
    await deliver(session);
    await page.getByText("$20.50 added.").first().waitFor();
    await page
      .getByRole("main")
      .getByText("Available balance", { exact: true })
      .locator("..")
      .getByText("$20.50")
      .first()
      .waitFor();
    const payments = page.getByRole("region", { name: "Payments", exact: true });
    await payments.getByText("Paid", { exact: true }).first().waitFor();
    await expect.poll(() => readRows(page)).toEqual([expect.stringMatching(/^Payment.*Cash\+\$20\.50.*\$20\.50$/)]);
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([session.url ?? `https://checkout.stripe.com/c/pay/${session.id}`]);
  });

  test("a saved card is shown with its form, which switches automatic top-up on and off", async () => {
    await using opened = await openBilling(await site.createPerson());
    const { page } = opened;
    const section = page.getByRole("region", { name: "Automatic top-up" });
    await section.getByText("No card saved.").first().waitFor();
    await page.getByRole("checkbox", { name: "Save this card" }).check();
    await page.getByRole("button", { name: "$25.00" }).click();
    const session = await beginPayment(page, "25");
    expect(session.setup_future_usage).toBe("off_session");
    stripe.pay(session);
    await deliver(session);
    await page.goto(`${site.siteUrl}/console/billing`);
    await section.getByText("visa •••• 4242, expires 12/2030").first().waitFor();
    await section.getByLabel("When below, in USD").fill("30");
    await section.getByLabel("Charge, in USD").fill("20");
    await section.getByLabel("At most a month, in USD").fill("100");
    await section.getByRole("button", { name: "Switch on" }).click();
    await section.getByText("must not exceed").first().waitFor();
    await section.getByLabel("When below, in USD").fill("10,00");
    await section.getByRole("button", { name: "Switch on" }).click();
    await section.getByText("On", { exact: true }).first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await section.getByRole("button", { name: "Switch off" }).click();
    await section.getByText("Off", { exact: true }).first().waitFor();
    const alerts = page.getByRole("region", { name: "Mail alerts" });
    await alerts.getByLabel("Balance below, in USD").fill("5");
    await alerts.getByRole("button", { name: "Save alerts" }).click();
    await alerts.getByText("Alerts saved.").first().waitFor();
    await section.getByRole("button", { name: "Remove card" }).click();
    await section.getByText("No card saved.").first().waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("an invoice is listed after the payment and downloads as a PDF, with the saved billing details", async () => {
    const source = 'seller: {name: Seller, address: Street 1, country: DE}\ntax: [{country: "*", rate: 19}]';
    await applyTerms({ database: site.gateway.database, clock: systemClock }, { source, actor: "test" });
    await using opened = await openBilling(await site.createPerson());
    const { page } = opened;
    await page.getByText("No documents yet.").first().waitFor();
    const details = page.getByRole("region", { name: "Billing details" });
    await details.getByLabel("Legal name").fill("Ada GmbH");
    await details.getByLabel("Address").fill("Street 2\nBerlin");
    await details.getByLabel("Tax id").fill("de 123456789");
    await details.getByRole("button", { name: "Save billing details" }).click();
    await details.getByText("is required with a tax id").first().waitFor();
    await details.getByLabel("Country").fill("de");
    await details.getByRole("button", { name: "Save billing details" }).click();
    await details.getByText("Billing details saved.").first().waitFor();
    await expect.poll(() => details.getByLabel("Tax id").inputValue()).toBe("DE123456789");
    const session = await beginPayment(page, "119");
    stripe.pay(session);
    await deliver(session);
    await page.goto(`${site.siteUrl}/console/billing`);
    const documents = page.getByRole("region", { name: "Documents", exact: true });
    await documents.getByText("$119.00").first().waitFor();
    const link = documents.getByRole("link", { name: /Download INV-\d+ as PDF/ });
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    expect(download.suggestedFilename()).toMatch(/^INV-\d+\.pdf$/);
    expect((await readFile(await download.path())).subarray(0, 5).toString()).toBe("%PDF-");
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("an account that spent a disputed payment sees why it is suspended, and how much it owes", {
    tags: "extended",
  }, async () => {
    await using opened = await openBilling(await site.createPerson());
    const { page } = opened;
    const session = await beginPayment(page, "20");
    stripe.pay(session);
    await deliver(session);
    const accountId = (session.metadata.account ?? "") as AccountId;
    const spent = { kind: "adjust", amount: nano(-15_000_000_000n) } as const;
    const request = { accountId, actor: "test", reason: "spent", reference: null };
    await bookCredit(site.gateway.parts, { ...request, booking: spent });
    await deliver(stripe.dispute(session, 2000), "charge.dispute.created");
    await page.goto(`${site.siteUrl}/console/billing`);
    await page.getByText("Account suspended: $15.00 owed").first().waitFor();
    await page.getByText("Disputed", { exact: true }).first().waitFor();
    await page.getByText("Payment disputed").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.getByRole("textbox", { name: "Code" }).fill(await createCode("cash"));
    await page.getByRole("button", { name: "Redeem" }).click();
    await page.getByText("Account suspended: $12.50 owed").first().waitFor();
    await page
      .getByRole("main")
      .getByText("Available balance", { exact: true })
      .locator("..")
      .getByText("$0.00")
      .first()
      .waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("leaving Stripe's page without paying shows that nothing was charged, and offers a retry", {
    tags: "extended",
  }, async () => {
    await using opened = await openBilling(await site.createPerson());
    const { page } = opened;
    const session = await beginPayment(page, "20");
    await page.goto(String(session.cancel_url));
    await page.getByText("Payment canceled.").first().waitFor();
    await expect
      .poll(() => page.getByRole("link", { name: "Continue payment" }).getAttribute("href"))
      .toBe(session.url);
  });

  test("a payment that takes days is shown as processing", { tags: "extended" }, async () => {
    await using opened = await openBilling(await site.createPerson());
    const { page } = opened;
    const session = await beginPayment(page, "30");
    stripe.pay(session, "slow");
    await deliver(session);
    await page.goto(String(session.success_url));
    await page.getByText("$30.00 is being processed.").first().waitFor();
    await page.getByText("Processing", { exact: true }).first().waitFor();
  });

  test("a person cannot see another account's payment", { tags: "extended" }, async () => {
    await using first = await openBilling(await site.createPerson());
    const session = await beginPayment(first.page, "20");
    const search = new URL(String(session.success_url)).search;
    await using second = await openBilling(await site.createPerson(), search);
    await second.page.getByText("There is no such checkout.").first().waitFor();
  });

  async function expectAmountRejected(typed: string, sentence: RegExp): Promise<void> {
    await using opened = await openBilling(await site.createPerson());
    const { page } = opened;
    await page.getByText("From $5.00 to").first().waitFor();
    const field = page.getByLabel("Amount in USD");
    await field.fill(typed);
    await page.getByRole("button", { name: "Pay by card" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await expect.poll(() => describeField(page, field)).toMatch(sentence);
    await expect.poll(() => field.inputValue()).toBe(typed);
  }

  test('the amount "0.5" is rejected at its field, and stays there', () =>
    expectAmountRejected("0.5", /least|from|at least/i));

  test.for(["twenty", ""])("the amount %j is rejected at its field, and stays there", { tags: "extended" }, (typed) =>
    expectAmountRejected(typed, /amount/i),
  );

  test("a code adds its credit once: a typo and a used code are shown at the field", async () => {
    await using opened = await openBilling(await site.createPerson());
    const { page } = opened;
    const code = await createCode("gift");
    const field = page.getByRole("textbox", { name: "Code" });
    await field.fill("not a code");
    await page.getByRole("button", { name: "Redeem" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await expect.poll(() => describeField(page, field)).toMatch(/^A code has 20 letters and digits/);
    await expect.poll(() => field.inputValue()).toBe("not a code");
    await field.fill(` ${code.toLowerCase()} `);
    await page.keyboard.press("Enter");
    await page.getByText("$2.50 added").first().waitFor();
    await page
      .getByText(/This gift credit expires .+ Available balance: \$2\.50\./)
      .first()
      .waitFor();
    await expect.poll(() => field.inputValue()).toBe("");
    await page.getByText("Gifts", { exact: true }).locator("..").getByText("$2.50").first().waitFor();
    await expect.poll(() => readRows(page)).toEqual([expect.stringMatching(/^Redeemed code.*Gift\+\$2\.50.*\$2\.50$/)]);
    await field.fill(code);
    await page.keyboard.press("Enter");
    await page.locator("[aria-invalid=true]").waitFor();
    await expect.poll(() => describeField(page, field)).toMatch(/redeemed/i);
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain(code);
  });

  test("the statement has a running balance, a custom range, links to charges, and a CSV file", async () => {
    await using opened = await openBilling(spender.email);
    const { page } = opened;
    await page.getByText("Quota of the plan").first().waitFor();
    await page.getByLabel("First day").fill("2026-03-01");
    await page.getByLabel("Last day").fill("2026-03-31");
    await page.getByText("Quota of the plan").first().waitFor({ state: "detached" });
    await expect
      .poll(() => readRows(page))
      .toEqual([
        expect.stringMatching(
          /^sandbox-chat: 1,000 input tokens(Mar 4, 2026, 12:00 PM)+Cash−\$0\.000000001.*\$4\.999999999$/,
        ),
        expect.stringMatching(/^Top-up(Mar 1, 2026, 12:00 PM)+Cash\+\$5\.00.*\$5\.00$/),
      ]);
    const [first = 0, second = Number.NaN] = await page.evaluate<number[]>(findDecimalPoints);
    expect(Math.abs(first - second)).toBeLessThan(0.5);
    // The short amount is rounded down; hover and focus show the exact one.
    const glance = page.getByRole("button", { name: "$4.99, exactly $4.999999999" }).first();
    await glance.focus();
    await glance.locator("..").getByText("$4.999999999").first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    const lines = (await readFile(await download.path(), "utf8")).trim().split(/\r?\n/);
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)).toContain("4.999999999");
    await page.getByLabel("Last day").fill("2026-02-01");
    await page.getByText("Choose a last day after the first day.").first().waitFor();
    await page.getByLabel("Last day").fill("2026-03-03");
    await page.getByRole("link", { name: /1,000 input tokens/ }).waitFor({ state: "detached" });
    await page.getByLabel("Last day").fill("2026-03-04");
    await page.getByRole("link", { name: /1,000 input tokens/ }).click();
    await page.waitForURL(`**/console/usage/charges/${charged}`);
  });

  test("a plan shows the rest of each quota", async () => {
    await spender.hold("0.5", new Date(), { quota: { kind: "text", units: 400n } });
    await using opened = await openBilling(spender.email);
    const { page } = opened;
    const plan = page.getByRole("region", { name: "Plan Pro" });
    await plan.getByText("600 tokens left of 1,000").first().waitFor();
    await plan.getByText("4 images left of 4").first().waitFor();
    const bar = plan.getByRole("progressbar", { name: "Remaining text quota" });
    await expect.poll(() => bar.getAttribute("aria-valuenow")).toBe("60");
    await expect.poll(() => plan.getByText("Video quota").count()).toBe(0);
  });

  test("a plan is bought from the balance, cancelled and kept, and one that is too expensive says so", async () => {
    const quotas = { text: 5000n, image: 0n, video: 0n };
    const sold = { limits: {}, period: "month", quotas, isForSale: true } as const;
    await createPlan(site.gateway.parts, { id: "solo", name: "Solo", ...sold, price: toAmount("3") });
    await createPlan(site.gateway.parts, { id: "crew", name: "Crew", ...sold, price: toAmount("90") });
    const buyer = await createSpender(site);
    await buyer.book({ kind: "top-up", amount: toAmount("4") }, new Date());
    await using opened = await openBilling(buyer.email);
    const { page } = opened;
    const plans = page.getByRole("region", { name: "Plans", exact: true });
    const dialog = page.getByRole("dialog");
    const crew = plans.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Crew" }) });
    await crew.getByText("$90.00 a month").first().waitFor();
    await crew.getByRole("button", { name: "Buy Crew" }).click();
    await dialog.getByRole("button", { name: "Buy for $90.00" }).click();
    await dialog.getByRole("alert").getByText(/86/).first().waitFor();
    await dialog.getByRole("button", { name: "Back" }).click();

    await plans.getByRole("button", { name: "Buy Solo" }).click();
    await dialog.getByRole("button", { name: "Buy for $3.00" }).click();
    await plans.getByText("Your plan").first().waitFor();
    await page.getByText("$1.00").first().waitFor();
    const own = page.getByRole("region", { name: "Plan Solo" });
    await own.getByText("5,000 tokens left of 5,000").first().waitFor();

    await plans.getByRole("button", { name: "Cancel plan" }).click();
    await dialog.getByRole("button", { name: "Cancel plan" }).click();
    await plans
      .getByText(/Solo ends .* and is not renewed\./)
      .first()
      .waitFor();
    await plans.getByRole("button", { name: "Renew Solo" }).waitFor();
    await own.getByText("5,000 tokens left of 5,000").first().waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test.for(["full", "empty"])(
    "the page of an account that is %s fits every window, and axe finds nothing",
    { tags: "extended" },
    async (kind) => {
      const email = kind === "full" ? spender.email : await site.createPerson();
      await using opened = await openBilling(email, kind === "full" ? `?${statementDays}` : "");
      const { page } = opened;
      await page
        .getByText(kind === "full" ? "Top-up" : "No entries yet.")
        .first()
        .waitFor();
      for (const width of [768, 390]) {
        await page.setViewportSize({ width, height: 900 });
        await expect
          .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
          .toBeLessThanOrEqual(0);
      }
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
    },
  );
});

/** The lines of the statement without its heading. */
/** Horizontal positions of the decimal points in the statement's amounts. */
const findDecimalPoints = `[...document.querySelectorAll("section[aria-label='Statement entries'] [data-padding]")]
  .filter((cell) => /^[+−]/.test(cell.textContent))
  .map(({ firstChild }) => {
    const range = document.createRange();
    range.setStart(firstChild, firstChild.data.indexOf("."));
    range.setEnd(firstChild, firstChild.data.indexOf(".") + 1);
    return range.getBoundingClientRect().left;
  })`;

async function readRows(page: Page): Promise<string[]> {
  const rows = page.getByRole("region", { name: "Statement entries" }).locator("tbody tr");
  await rows.first().waitFor();
  return await rows.allTextContents();
}

/** The first description of a field, which is its error if it has one. */
async function describeField(page: Page, field: Locator): Promise<string | null> {
  const ids = (await field.getAttribute("aria-describedby")) ?? "";
  return await page.locator(`[id="${ids.split(" ")[0]}"]`).textContent();
}

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSpender, type Spender, toAmount } from "../harness/chat/spender.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { createRememberedSignIns } from "../harness/site/remembered-sign-ins.ts";
import { goodPassword, readMail, visitSite } from "../harness/site/site-visitor.ts";

const dayMs = 24 * 60 * 60 * 1000;

describe.skipIf(!hasBrowser)("the overview", () => {
  let site: BrowsedSite;
  let signIns: ReturnType<typeof createRememberedSignIns>;
  let spender: Spender;
  const now = new Date();
  const before = (days: number): Date => new Date(now.getTime() - days * dayMs);

  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
    signIns = createRememberedSignIns(site);
    spender = await createSpender(site);
    await spender.book({ kind: "top-up", amount: toAmount("10") }, before(20));
    const expiresAt = new Date("2030-01-31T12:00:00Z");
    const keyId = await spender.createKey("Production");
    const work = { keyId, model: "sandbox-chat", items: { input_tokens: 1000n }, rate: "0.25" };
    await spender.charge({ ...work, at: before(2) });
    await spender.charge({ ...work, at: before(1), items: { input_tokens: 1000n, output_tokens: 1000n } });
    await spender.book({ kind: "grant", unit: "money", amount: toAmount("2.5"), expiresAt }, before(1));
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function openOverview(email: string) {
    return await signIns.open(email, "/console");
  }

  test("the balance, its parts and the spending are shown to the cent", async () => {
    await using opened = await openOverview(spender.email);
    const { page } = opened;
    const available = page.getByRole("region", { name: "Available balance" });
    await available.getByText("$11.75").first().waitFor();
    await available.getByText("expires").first().waitFor();
    await expect
      .poll(() => available.getByRole("definition").allTextContents())
      .toEqual(["$2.50expires Jan 31, 2030, 12:00 PM", "$9.25"]);
    await page.getByText("$0.75 in the last 30 days").first().waitFor();
    const calls = page.getByRole("region", { name: "Latest calls", exact: true }).getByRole("table");
    await calls.getByText("$0.50").first().waitFor();
    await expect
      .poll(() => calls.getByRole("row").nth(1).textContent())
      .toMatch(/1,000 input tokens, 1,000 output tokens.*\$0\.50/);
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("a hold appears without a reload, with its reason and a link to its task", async () => {
    await using opened = await openOverview(spender.email);
    const { page } = opened;
    const held = page.getByRole("region", { name: "On hold" });
    await held.getByText("Nothing is on hold.").first().waitFor();
    const status = await page.evaluate(`fetch("/console/api/videos/generations", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-video", prompt: "[[stuck]] Waves", duration: 10 }),
    }).then((answer) => answer.status)`);
    expect(status).toBe(202);
    await held.getByText("$0.50").first().waitFor();
    await expect
      .poll(() => held.getByRole("listitem").textContent())
      .toMatch(/^Task of sandbox-videoopened just now, expires .+\$0\.50$/);
    await page
      .getByRole("region", { name: "Latest tasks", exact: true })
      .getByText(/Queued|Processing/)
      .first()
      .waitFor();
    await held.getByRole("link", { name: "Task of sandbox-video" }).click();
    await page.waitForURL(/\/console\/tasks\/task_/);
  });

  test("every bar can be reached by keyboard and opens its charges", { tags: "extended" }, async () => {
    await using opened = await openOverview(spender.email);
    const { page } = opened;
    const bars = page.getByRole("group", { name: /^Charges of the last 30 days/ }).getByRole("button");
    await bars.first().waitFor();
    await expect.poll(() => bars.count()).toBe(2);
    await bars.last().focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toMatch(/, \$0\.25$/);
    await page.keyboard.press("Enter");
    await page.waitForURL(new RegExp(`/console/usage\\?bar=${before(2).toISOString().slice(0, 10)}$`));
    await page.getByText("1 charge, $0.25 total").first().waitFor();
  });

  test("a new account makes a successful first call with four clicks, and sees its cost", async () => {
    await using opened = await site.openPage({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = opened;
    let clicks = 0;
    const click = async (role: "button" | "link", name: string) => {
      clicks += 1;
      await page.getByRole(role, { name, exact: true }).click();
    };
    await page.goto("/");
    await click("link", "Create an account");
    const email = `${randomBytes(6).toString("hex")}@example.com`;
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill(goodPassword);
    await click("button", "Create account");
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    const { link } = await readMail(visitSite({ siteUrl: site.siteUrl, outboxUrl: site.gateway.outboxUrl }), email);
    clicks += 1;
    await page.goto(link);
    const firstRun = page.getByRole("region", { name: "Make your first call" });
    await firstRun.getByText("$5.00 of credit").first().waitFor();
    await click("button", "Create key and copy the call");
    await firstRun.getByText("Waiting for your first call…").first().waitFor();
    await firstRun.getByText("Key created, call copied").first().waitFor();
    const copied = (await page.evaluate("navigator.clipboard.readText()")) as string;
    const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", copied]);
    expect(JSON.parse(stdout)).toMatchObject({ object: "chat.completion" });
    await firstRun.getByText("Your first call succeeded").first().waitFor();
    await expect.poll(() => firstRun.textContent()).toMatch(/sandbox-chat answered for \$0\.0\d+\./);
    expect(clicks).toBeLessThanOrEqual(4);
    // The key stays visible after the call, and the current balance is shown below.
    await firstRun.getByRole("region", { name: "Your new key" }).getByText("sk-slc-").first().waitFor();
    await page.getByRole("region", { name: "Latest calls", exact: true }).waitFor();
    await firstRun.getByRole("link", { name: "See its charge" }).click();
    await page.waitForURL(/\/console\/usage\/charges\/txn_/);
    expect(opened.complaints).toEqual([]);
  });

  test("an account without credit sees whom to ask, and why the first call failed", { tags: "extended" }, async () => {
    const beginner = await createSpender(site);
    await using opened = await openOverview(beginner.email);
    const { page } = opened;
    const firstRun = page.getByRole("region", { name: "Make your first call" });
    await firstRun.getByText("No credit yet").first().waitFor();
    await expect
      .poll(() => firstRun.getByRole("listitem").first().textContent())
      .toContain(`Ask the operator to add credit to ${beginner.email}, or for a code`);
    for (const name of ["Python", "TypeScript", "Claude Code", "CLI"]) {
      await firstRun.getByRole("tab", { name }).click();
      await firstRun.getByRole("region", { name: `First call, ${name}` }).waitFor();
    }
    await firstRun.getByRole("button", { name: "Create key and copy the call" }).click();
    await firstRun.getByText("Waiting for your first call…").first().waitFor();
    const key = (await firstRun.getByRole("region", { name: "Your new key" }).locator("code").textContent()) ?? "";
    expect((await call(key)).status).toBe(402);
    await firstRun.getByText("Your call arrived, but your balance is empty").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await beginner.book({ kind: "top-up", amount: toAmount("1") }, now);
    expect((await call(key)).status).toBe(200);
    await firstRun.getByText("Your first call succeeded").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await firstRun.getByRole("button", { name: "Hide" }).click();
    await expect.poll(() => firstRun.count()).toBe(0);
    expect(opened.complaints).toEqual([]);
  });

  function call(key: string): Promise<Response> {
    return fetch(`${site.siteUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] }),
    });
  }

  test("an existing key is recognized, and billing shows how to add credit", { tags: "extended" }, async () => {
    const beginner = await createSpender(site);
    await beginner.createKey("Earlier");
    await using opened = await openOverview(beginner.email);
    const { page } = opened;
    const firstRun = page.getByRole("region", { name: "Make your first call" });
    await firstRun.getByRole("button", { name: "Create another and copy the call" }).waitFor();
    await firstRun.getByText("Waiting for your first call…").first().waitFor();
    await firstRun.getByRole("link", { name: "redeem in Billing" }).click();
    await page.getByText("Card payments aren't enabled.").first().waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("a list that fails to load can be retried", { tags: "extended" }, async () => {
    await using opened = await signIns.open(spender.email, "/console/settings");
    const { page } = opened;
    await page.route("**/console/api/buckets", (route) => route.fulfill({ status: 403, body: "{}" }));
    await page.getByRole("link", { name: "Overview" }).click();
    const again = page.getByRole("region", { name: "Available balance" }).getByRole("button", { name: "Try again" });
    await again.waitFor();
    await page.unroute("**/console/api/buckets");
    await again.click();
    await page.getByRole("region", { name: "Available balance" }).getByText("expires Jan 31, 2030").first().waitFor();
  });

  test.for(["full", "empty"])(
    "the page of an account that is %s fits every window, and axe finds nothing",
    { tags: "extended" },
    async (kind) => {
      const email = kind === "full" ? spender.email : (await createSpender(site)).email;
      await using opened = await openOverview(email);
      const { page } = opened;
      await page
        .getByRole("region", { name: kind === "full" ? "Latest calls" : "Make your first call", exact: true })
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

import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sumMoney } from "../../web/src/parts/format/sum-money.ts";
import { createSpender, type Spender, toAmount } from "../harness/chat/spender.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { offerModelsAs } from "../harness/site/furnish-console.ts";
import { createRememberedSignIns } from "../harness/site/remembered-sign-ins.ts";

const days = "from=2026-03-01&to=2026-03-31";

describe.skipIf(!hasBrowser)("the usage page", () => {
  let site: BrowsedSite;
  let signIns: ReturnType<typeof createRememberedSignIns>;
  let spender: Spender;
  let production: string;
  let explained: string;
  const march = (day: number, time = "12:00"): Date => new Date(`2026-03-${String(day).padStart(2, "0")}T${time}:00Z`);

  beforeAll(async () => {
    site = await startBrowsedSite();
    signIns = createRememberedSignIns(site);
    spender = await createSpender(site);
    const { accountId } = spender;
    const { database } = site.gateway;
    await database.updateTable("accounts").set({ time_zone: "Asia/Tokyo" }).where("id", "=", accountId).execute();
    await spender.book({ kind: "top-up", amount: toAmount("20") }, march(1));
    production = await spender.createKey("Production");
    const staging = await spender.createKey("Staging");
    const chat = { keyId: production, model: "sandbox-chat", items: { input_tokens: 1000n }, rate: "0.1" };
    await spender.charge({ ...chat, at: march(3) });
    // In Tokyo it is the fourth.
    await spender.charge({ ...chat, at: march(3, "23:30"), rate: "0.200000001" });
    for (let count = 0; count < 22; count += 1) await spender.charge({ ...chat, at: march(4, "08:00"), rate: "0.01" });
    await spender.charge({
      ...chat,
      at: march(4),
      keyId: staging,
      model: "sandbox-image",
      items: { images: 2n },
      rate: "40",
    });
    const expiresAt = new Date("2030-01-31T12:00:00Z");
    await spender.book({ kind: "grant", unit: "money", amount: toAmount("0.03"), expiresAt }, march(9));
    explained = await spender.charge({
      ...chat,
      at: march(10),
      items: { input_tokens: 1200n, output_tokens: 300n },
      rate: "0.02",
      minimum: "0.05",
      cause: { kind: "task", id: "task_of_the_tenth" },
    });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function openUsage(path: string, email = spender.email) {
    return await signIns.open(email, path);
  }

  const listBars = (page: Page): Locator => page.getByRole("group", { name: /by day and/ }).getByRole("button");
  const listRows = (page: Page): Locator => page.getByRole("region", { name: "Charges", exact: true }).getByRole("row");

  async function sumRows(page: Page): Promise<string> {
    const amounts = await listRows(page).locator("td:last-child > span").all();
    // Rounded amounts have all their digits in the tooltip.
    const texts = await Promise.all(
      amounts.map(async (amount) => (await amount.getAttribute("title")) ?? (await amount.innerText())),
    );
    return sumMoney(texts.map((text) => text.replace(/[$,]/g, "")));
  }

  test("a bar is one day of the account, shows its numbers, and opens exactly its charges", async () => {
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    await page.getByText("Asia/Tokyo").first().waitFor();
    const bars = listBars(page);
    await bars.first().waitFor();
    await expect
      .poll(async () => Promise.all((await bars.all()).map((bar) => bar.getAttribute("aria-label"))))
      .toEqual([
        "Mar 3, 2026, $0.10",
        "Mar 4, 2026, $0.500000001: sandbox-chat $0.420000001, sandbox-image $0.08",
        "Mar 10, 2026, $0.05",
      ]);
    await bars.nth(1).click({ position: { x: 2, y: 2 } });
    await page.getByText("24 charges, $0.50").first().waitFor();
    await page.getByRole("button", { name: "$0.50, exactly $0.500000001" }).first().waitFor();
    await page.getByRole("button", { name: "Show more" }).click();
    await listRows(page).nth(24).waitFor();
    await expect.poll(() => listRows(page).count()).toBe(25);
    await expect.poll(() => sumRows(page)).toBe("0.500000001");
    await page.getByLabel("Part").selectOption("sandbox-image");
    await page.getByText("1 charge, $0.08 total").first().waitFor();
    await listRows(page).nth(2).waitFor({ state: "detached" });
    await expect.poll(() => sumRows(page)).toBe("0.08");
    // A link to this view shows the same elsewhere.
    await page.reload();
    await page.getByText("1 charge, $0.08 total").first().waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("clicking a bar segment opens the charges of its model only", { tags: "extended" }, async () => {
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    await listBars(page).first().waitFor();
    // A redraw in the middle of a click would lose the click.
    const readPart = () => new URL(page.url()).searchParams.get("part");
    await expect
      .poll(async () => {
        if (readPart() === null) await page.locator(".recharts-bar").nth(1).locator("path").click();
        return readPart();
      })
      .toBe("sandbox-image");
    await page.getByText("1 charge, $0.08 total").first().waitFor();
  });

  test("the chart works without a pointer, and the focus moves to the opened charges", {
    tags: "extended",
  }, async () => {
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    const bars = listBars(page);
    await bars.last().focus();
    for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    await page.keyboard.press("Enter");
    const heading = page.getByRole("heading", { name: "Charges of Mar 4, 2026" });
    await heading.waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Charges of Mar 4, 2026");
    await page.getByRole("button", { name: "Close" }).click();
    await heading.waitFor({ state: "detached" });
    const zoom = page.getByRole("group", { name: "Zoom" });
    await zoom.getByRole("button", { name: "Zoom in" }).press("Enter");
    await expect.poll(() => bars.count()).toBeLessThan(3);
    await zoom.getByRole("button", { name: "Earlier" }).press("Enter");
    await zoom.getByRole("button", { name: "Reset zoom" }).press("Enter");
    await expect.poll(() => bars.count()).toBe(3);
  });

  test("dragging over bars zooms to them until the zoom is reset", { tags: "extended" }, async () => {
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    const bars = listBars(page);
    await expect.poll(() => bars.count()).toBe(3);
    const [one, other] = [await bars.nth(0).boundingBox(), await bars.nth(1).boundingBox()];
    const chart = await page.getByRole("group", { name: /by day and/ }).boundingBox();
    // Above the bars, where a click opens none of them.
    const pointAt = (box: typeof one) => [(box?.x ?? 0) + (box?.width ?? 0) / 2, (chart?.y ?? 0) + 12] as const;
    await page.mouse.move(...pointAt(one));
    await page.mouse.down();
    await page.mouse.move(...pointAt(other), { steps: 4 });
    await page.locator(".recharts-reference-area").first().waitFor();
    await page.mouse.up();
    await expect.poll(() => bars.count()).toBe(2);
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await expect.poll(() => bars.count()).toBe(3);
    expect(opened.complaints).toEqual([]);
  });

  test("tables show the same numbers by key, and filters stay in the address", { tags: "extended" }, async () => {
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    await page.getByLabel("By", { exact: true }).selectOption("key");
    const byKey = page.getByRole("region", { name: "By key", exact: true }).getByRole("table");
    await byKey.getByText("Staging").first().waitFor();
    await expect
      .poll(() => byKey.getByRole("row").allTextContents())
      .toEqual([
        "KeyCallsInput tokensOutput tokensImagesCharge",
        "Production2525,200300–$0.57",
        "Staging1––2$0.08",
        "Total2625,2003002$0.65",
      ]);
    const byDay = page.getByRole("region", { name: "By day", exact: true }).getByRole("table");
    await expect
      .poll(() => byDay.getByRole("row").allTextContents())
      .toEqual([
        "TimeProductionStagingTotal",
        "Mar 10, 2026$0.05–$0.05",
        "Mar 4, 2026$0.42$0.08$0.50",
        "Mar 3, 2026$0.10–$0.10",
        "Total$0.57$0.08$0.65",
      ]);
    await page.getByLabel("Key", { exact: true }).selectOption("Staging");
    await page.getByLabel("Show").selectOption("Calls");
    await page.getByText("Production2525").first().waitFor({ state: "detached" });
    await page.reload();
    await listBars(page).first().waitFor();
    await expect.poll(() => listBars(page).first().getAttribute("aria-label")).toBe("Mar 4, 2026, 1");
    await expect
      .poll(() => page.getByLabel("Key", { exact: true }).locator("option:checked").textContent())
      .toBe("Staging");
  });

  test("one or two days are shown by the hour", { tags: "extended" }, async () => {
    await using opened = await openUsage("/console/usage?from=2026-03-04&to=2026-03-04");
    const bars = opened.page.getByRole("group", { name: /by hour and/ }).getByRole("button");
    await bars.first().waitFor();
    await expect.poll(() => bars.first().getAttribute("aria-label")).toBe("Mar 4, 08:00, $0.200000001");
  });

  test("days in the wrong order are an error at the field, and typed values stay", { tags: "extended" }, async () => {
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    await page.getByLabel("First day").fill("2026-04-02");
    await page.getByText("Choose a last day after the first day.").first().waitFor();
    await expect.poll(() => page.getByLabel("First day").getAttribute("aria-invalid")).toBe("true");
    await expect.poll(() => page.getByLabel("Last day").inputValue()).toBe("2026-03-31");
    await page.getByLabel("Last day").fill("2026-04-03");
    await page.getByText("No charges in this period").first().waitFor();
  });

  test("the file has the numbers of the page", async () => {
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    const [names = "", ...lines] = (await readFile(await download.path(), "utf8")).trim().split(/\r?\n/);
    const place = names.split(",").indexOf("charge");
    expect(lines).toHaveLength(4);
    expect(sumMoney(lines.map((line) => line.split(",")[place] ?? ""))).toBe("0.650000001");
  });

  test("a charge shows its quantities, rates, minimum, buckets, hold and remaining balance", async () => {
    await using opened = await openUsage(`/console/usage?${days}&bar=2026-03-10`);
    const { page } = opened;
    await listRows(page).getByRole("link", { name: "sandbox-chat" }).click();
    const counted = page.getByRole("region", { name: "Calculation" });
    await counted.waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/usage/charges/${explained}`);
    await expect
      .poll(() => counted.getByRole("row").allTextContents())
      .toEqual([
        "ItemQuantity× Rate= Amount",
        "Input tokens1,200$20.00 / 1M$0.024",
        "Output tokens300$20.00 / 1M$0.006",
      ]);
    await expect
      .poll(() => readFacts(counted))
      .toEqual({
        Subtotal: "$0.03",
        "Minimum charge": "$0.05",
        Total: "$0.05",
      });
    await expect
      .poll(() => readFacts(page.getByRole("region", { name: "Paid from" })))
      .toEqual({
        "Hold before the call": "$1.00",
        "Gift, expires Jan 31, 2030, 9:00 PM": "$0.03",
        Cash: "$0.02",
        "Balance after": "$19.379999999",
      });
    await page.getByText("Current price").first().waitFor();
    const origin = page.getByRole("region", { name: "Details" });
    await origin.getByText("Production").first().waitFor();
    await expect.poll(() => readFacts(origin)).toMatchObject({ Time: "Mar 10, 2026, 9:00 PM", Key: "Production" });
    await expect
      .poll(() => origin.getByRole("link", { name: "Open task" }).getAttribute("href"))
      .toBe("/console/tasks/task_of_the_tenth");
  });

  test("another account's charge is not shown, and an account without charges sees what to do", async () => {
    const other = await site.createPerson();
    await using opened = await openUsage(`/console/usage/charges/${explained}`, other);
    const { page } = opened;
    await page.getByRole("heading", { name: "Charge not found" }).waitFor();
    await page.getByRole("link", { name: "See your usage" }).click();
    await page.getByText("No charges in this period").first().waitFor();
    await page.getByRole("link", { name: "Try a model in the playground" }).waitFor();
  });

  test.for(["usage", "charge"])(
    "the page of a %s fits every window, and axe finds nothing",
    { tags: "extended" },
    async (kind) => {
      await using opened = await openUsage(
        kind === "usage" ? `/console/usage?${days}&bar=2026-03-04` : `/console/usage/charges/${explained}`,
      );
      const { page } = opened;
      await page.getByRole("table").first().waitFor();
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

  test("below a narrow chart every day has its full label, the last one too", { tags: "extended" }, async () => {
    await using opened = await openUsage("/console/usage?from=2026-02-09&to=2026-03-10");
    const { page } = opened;
    await page.setViewportSize({ width: 390, height: 900 });
    await listBars(page).first().waitFor();
    const chart = page.getByRole("group", { name: /by day and/ });
    const listEnds = async () =>
      await Promise.all(
        (await chart.locator(".recharts-cartesian-axis-tick-value").all()).map(async (name) => {
          const [outer, inner] = [await chart.boundingBox(), await name.boundingBox()];
          if (outer === null || inner === null) return "not there";
          return inner.x >= outer.x && inner.x + inner.width <= outer.x + outer.width ? "whole" : "cut off";
        }),
      );
    await expect.poll(async () => [...new Set(await listEnds())]).toEqual(["whole"]);
    await chart.getByText("Mar 10", { exact: true }).first().waitFor();
  });

  test("a model outside the visible list is found by a part of its name, by keyboard alone", {
    tags: "extended",
  }, async () => {
    await offerModelsAs(site, (id) => `another-${id}`);
    await using opened = await openUsage(`/console/usage?${days}`);
    const { page } = opened;
    const readFocus = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    const field = page.getByRole("combobox", { name: "Model: All models" });
    await field.focus();
    await page.keyboard.press("Enter");
    await expect.poll(readFocus).toBe("Search: Model");
    await page.keyboard.type("no such model");
    await page.getByText("No matches.").first().waitFor();
    await page.getByLabel("Search: Model").fill("ANOTHER-sandbox-im");
    await expect
      .poll(() => page.getByRole("listbox").getByRole("option").allTextContents())
      .toEqual(["another-sandbox-image"]);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/console/usage?*model=another-sandbox-image*");
    await page.getByText("No charges in this period").first().waitFor();
    await expect.poll(readFocus).toBe("Model: another-sandbox-image");
    await page.keyboard.press("Enter");
    await expect.poll(readFocus).toBe("Search: Model");
    await page.keyboard.press("Escape");
    await expect.poll(readFocus).toBe("Model: another-sandbox-image");
    expect(opened.complaints).toEqual([]);
  });
});

async function readFacts(place: Locator): Promise<Record<string, string>> {
  const names = await place.getByRole("term").allTextContents();
  const values = await place.getByRole("definition").allTextContents();
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}

import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { type ConsolePerson, createConsolePerson } from "../harness/site/console-person.ts";
import { type ConsoleThings, furnishConsole } from "../harness/site/furnish-console.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { waitUntil } from "../harness/wait-until.ts";

describe.skipIf(!hasBrowser)("the search box and the request log", () => {
  let site: BrowsedSite;
  let person: ConsolePerson;
  let things: ConsoleThings;
  let event: string;
  let output: string;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
    person = await createConsolePerson(site);
    things = await furnishConsole(site, person, { name: "Harbour" });
    const { data } = await person.call("GET", `/events?task_id=${things.task}`);
    event = data[0].id;
    const task = await person.call("GET", `/tasks/${things.task}`);
    output = task.output[0].file_id;
  });
  afterAll(() => site[Symbol.asyncDispose]());

  const field = (page: Page) => page.getByRole("combobox", { name: "Search" });
  const options = (page: Page) => page.getByRole("listbox", { name: "Search results" }).getByRole("option");
  const focused = (page: Page) => page.evaluate("document.activeElement.textContent");

  async function search(page: Page, text: string): Promise<void> {
    await page.keyboard.press("Control+k");
    await field(page).fill(text);
  }

  test("every id leads to its page, and recently opened pages are listed", { tags: "extended" }, async () => {
    await using opened = await openSignedInPage(site, person.email);
    const { page } = opened;
    await page.goto("/console");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const places = [
      [things.task, `/console/tasks/${things.task}`, "Harbour"],
      [things.charge, `/console/usage/charges/${things.charge}`, "Charge"],
      [things.key, `/console/keys?key=${things.key}`, "API keys"],
      [things.endpoint, `/console/webhooks/${things.endpoint}`, "Webhook endpoint"],
      [event, `/console/tasks/${things.task}`, "Harbour"],
      [output, `/console/tasks/${things.task}`, "Harbour"],
      ["sandbox-video", "/console/models/sandbox-video", "Sandbox Video"],
      ["add cred", "/console/billing", "Billing"],
    ] as const;
    for (const [text, path, heading] of places) {
      await search(page, text);
      // Enter before the results have arrived opens the first one when it does.
      await page.keyboard.press("Enter");
      await field(page).waitFor({ state: "detached" });
      await expect.poll(() => page.url()).toBe(site.siteUrl + path);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      if (!path.includes("key=")) continue;
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.keyboard.press("Control+k");
    await expect
      .poll(() => page.getByRole("group", { name: "Recent" }).getByRole("option").first().textContent())
      .toBe("Add credit");
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("the keyboard moves through the results, and the focus returns", { tags: "extended" }, async () => {
    await using opened = await openSignedInPage(site, person.email);
    const { page } = opened;
    await page.goto("/console");
    const button = page.getByRole("button", { name: "Search" });
    await button.click();
    await expect.poll(() => options(page).first().getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("ArrowUp");
    const last = await options(page).last().getAttribute("id");
    await expect.poll(() => field(page).getAttribute("aria-activedescendant")).toBe(last);
    await page.keyboard.press("Escape");
    await field(page).waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toContain("Search");
    await search(page, "harbour");
    await expect.poll(() => options(page).allTextContents()).toHaveLength(4);
    await page.keyboard.press("Control+k");
    await field(page).waitFor({ state: "detached" });
    await search(page, "usage");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor();
    await expect.poll(() => focused(page)).toBe("Usage");
  });

  test("text typed right after the shortcut is searched for, even before the search has loaded", {
    tags: "extended",
  }, async () => {
    await using opened = await openSignedInPage(site, person.email);
    const { page } = opened;
    await page.goto("/console");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    const typed = Promise.withResolvers<void>();
    await page.route(/search-palette/, async (route) => {
      await typed.promise;
      await route.continue();
    });
    // The shortcut ends when Control is released: earlier keys would be other shortcuts.
    await page.keyboard.press("Control+k");
    await page.keyboard.type("harbou");
    typed.resolve();
    await field(page).waitFor();
    await page.keyboard.type("r");
    await expect.poll(() => field(page).inputValue()).toBe("harbour");
    await expect.poll(() => options(page).allTextContents()).toHaveLength(4);
  });

  test("another account's resources are not found, and axe finds nothing", { tags: "extended" }, async () => {
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    await page.goto("/console");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    for (const text of [things.task, things.charge, things.key, output, "harbour"]) {
      await search(page, text);
      await page.getByText(`Nothing found for “${text}”`).first().waitFor();
      await page.keyboard.press("Escape");
    }
    await search(page, "image");
    await options(page).first().waitFor();
    for (const [width, colorScheme] of [
      [1440, "dark"],
      [390, "light"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
  });

  const ask = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };
  const listRows = (page: Page): Locator => page.getByRole("region", { name: "Requests" }).locator("tbody tr");
  const readRows = (page: Page) => listRows(page).allTextContents();

  /** Sends a call that is rejected, and returns its request id. */
  async function fail(caller: ConsolePerson, traceId: string): Promise<string> {
    const body = { ...ask, model: "no-such-model" };
    await caller.call("POST", "/chat/completions", body, { "x-client-request-id": traceId }).catch(() => {});
    return await waitUntil("the call to be logged", async () => {
      const { data } = await caller.call("GET", `/requests?client_request_id=${traceId}`);
      return data[0]?.id ?? null;
    });
  }

  test("calls appear without a reload, are filtered through the address, and lead to their details", async () => {
    const caller = await createConsolePerson(site);
    await using opened = await openSignedInPage(site, caller.email);
    const { page } = opened;
    await page.goto("/console/requests");
    await page.getByText("No requests yet").first().waitFor();
    await page.getByRole("heading", { name: "Your first call" }).waitFor();
    await caller.call("POST", "/chat/completions", ask);
    await listRows(page).filter({ hasText: "sandbox-chat" }).waitFor();
    await fail(caller, "trace-1");
    await listRows(page).filter({ hasText: "no-such-model" }).waitFor();

    await page.getByLabel("Status", { exact: true }).selectOption("4xx");
    await expect.poll(() => readRows(page)).toEqual([expect.stringContaining("404model_unavailable")]);
    await page.reload();
    await expect.poll(() => readRows(page)).toHaveLength(1);
    await expect.poll(() => page.getByLabel("Status", { exact: true }).inputValue()).toBe("4xx");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    const [names = "", ...lines] = (await readFile(await download.path(), "utf8")).trim().split(/\r?\n/);
    expect(names).toContain("error_code");
    expect(lines).toEqual([expect.stringContaining("model_unavailable")]);

    await page.getByLabel("Status", { exact: true }).selectOption("");
    await listRows(page).filter({ hasText: "sandbox-chat" }).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: "Chat completions with sandbox-chat" }).waitFor();
    await page.getByText("POST /v1/chat/completions").first().waitFor();
    await page.getByRole("link", { name: "Open charge" }).click();
    await page.getByRole("heading", { level: 1, name: "Charge" }).waitFor();
    await page.getByRole("link", { name: "Open request" }).click();
    await page.getByRole("heading", { level: 1, name: "Chat completions with sandbox-chat" }).waitFor();
    const breadcrumbs = page.getByRole("navigation", { name: "Breadcrumbs" });
    await expect
      .poll(() => breadcrumbs.locator("[aria-current=page]").textContent())
      .toBe("Chat completions with sandbox-chat");
    await breadcrumbs.getByRole("link", { name: "Requests" }).click();
    await page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("a failed request shows its error, and for a 402 what was missing and the way to add it", async () => {
    const caller = await createConsolePerson(site, { credit: "0.01" });
    await using opened = await openSignedInPage(site, caller.email);
    const { page } = opened;
    const bad = { ...ask, temperature: "hot" };
    await caller.call("POST", "/chat/completions", bad, { "x-client-request-id": "typed" }).catch(() => {});
    const dear = { model: "sandbox-image", prompt: "A harbour" };
    await caller.call("POST", "/images/generations", dear, { "x-client-request-id": "unpaid" }).catch(() => {});
    const find = (trace: string) =>
      waitUntil("the call to be logged", async () => {
        const { data } = await caller.call("GET", `/requests?client_request_id=${trace}`);
        return data[0] ?? null;
      });
    const [typed, unpaid] = [await find("typed"), await find("unpaid")];
    const section = page.getByRole("region", { name: "Error" });
    await page.goto(`/console/requests/${typed.id}`);
    expect(typed.error_message).toContain("`");
    await section.getByText(typed.error_message.replaceAll("`", "")).first().waitFor();
    await expect.poll(() => section.textContent()).not.toContain("`");
    await section.getByText("temperature", { exact: true }).first().waitFor();
    await section.getByText(typed.error_code, { exact: true }).first().waitFor();
    expect(unpaid.status).toBe(402);
    await page.goto(`/console/requests/${unpaid.id}`);
    await section.getByText(`Add 0.01 USD at ${site.siteUrl}/console/billing to continue.`).first().waitFor();
    await section.getByRole("link", { name: "Add credit" }).click();
    await page.getByRole("heading", { level: 1, name: "Billing" }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("a custom range and a saved filter restore what they show", { tags: "extended" }, async () => {
    const caller = await createConsolePerson(site);
    await fail(caller, "saved");
    await using opened = await openSignedInPage(site, caller.email);
    const { page } = opened;
    await page.goto("/console/requests?status=4xx");
    await page.getByLabel("Period", { exact: true }).selectOption("own");
    await page.getByLabel("First day").fill("2026-01-01");
    await listRows(page).filter({ hasText: "no-such-model" }).waitFor();
    expect(new URL(page.url()).searchParams.get("from")).toBe("2026-01-01");
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByRole("menuitem", { name: "Save the current filter" }).click();
    await page.getByLabel("Name").fill("Failures of the year");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.goto("/console/requests");
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByRole("menuitem", { name: "Failures of the year", exact: true }).click();
    await expect.poll(() => new URL(page.url()).search).toContain("from=2026-01-01");
    await expect.poll(() => page.getByLabel("Status", { exact: true }).inputValue()).toBe("4xx");
    await page.getByRole("button", { name: "Saved filters" }).click();
    await page.getByRole("menuitem", { name: "Delete the filter Failures of the year" }).click();
    await page.getByRole("button", { name: "Saved filters" }).click();
    await expect.poll(() => page.getByRole("menuitem").count()).toBe(1);
    expect(opened.complaints).toEqual([]);
  });

  test("the log can be paused, read by keyboard and narrowed to a bar, and axe finds nothing", {
    tags: "extended",
  }, async () => {
    await using opened = await openSignedInPage(site, person.email);
    const { page } = opened;
    const trace = `trace-${Date.now()}`;
    const refused = await fail(person, trace);
    await page.goto("/console/requests?wire=chat");
    await listRows(page).filter({ hasText: "no-such-model" }).first().waitFor();
    await page.getByRole("switch", { name: "Live" }).click();
    const shown = await listRows(page).count();
    const later = await fail(person, `${trace}-later`);
    const shownWhilePaused = await listRows(page).count();
    expect(shownWhilePaused).toBe(shown);
    const laterRow = listRows(page).filter({ has: page.locator(`a[href*="${later}"]`) });
    const laterWhilePaused = await laterRow.count();
    expect(laterWhilePaused).toBe(0);
    await page.getByRole("switch", { name: "Live" }).click();
    await laterRow.first().waitFor();
    await page.getByRole("switch", { name: "Live" }).click();

    await listRows(page).getByRole("link").first().focus();
    await page.keyboard.press("ArrowDown");
    const second = listRows(page).nth(1).getByRole("link").first();
    await expect.poll(() => second.evaluate((link) => link.matches(":focus"))).toBe(true);

    const bars = page.getByRole("group", { name: "Requests by status over time" }).getByRole("button");
    await bars.last().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Clear time range" }).waitFor();
    expect(new URL(page.url()).searchParams.get("to")).not.toBeNull();
    await listRows(page).first().waitFor();

    for (const path of [page.url(), `/console/requests/${refused}`]) {
      await page.goto(path);
      await page.locator("#content").getByRole("heading", { level: 2 }).first().waitFor();
      for (const [width, colorScheme] of [
        [1440, "dark"],
        [390, "light"],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await expect
          .poll(() => page.evaluate("document.documentElement.scrollWidth - innerWidth"))
          .toBeLessThanOrEqual(0);
        await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
    }
    await search(page, trace);
    await expect.poll(() => options(page).first().textContent()).toContain(`no-such-model${refused}`);
  });
});

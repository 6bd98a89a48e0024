// @module-tag extended
import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey, revokeApiKey } from "../../src/features/accounts/index.ts";
import { startWebhookReceiver } from "../harness/servers/webhook-receiver.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { type ConsolePerson, createConsolePerson } from "../harness/site/console-person.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";

const ask = { model: "sandbox-chat", messages: [{ role: "user", content: "Hello" }] };

describe.skipIf(!hasBrowser)("one change stream updates every open page when", () => {
  let site: BrowsedSite;
  let person: ConsolePerson;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
    person = await createConsolePerson(site);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** Two pages of one browser without timers: updates can only come from the stream. */
  async function openTwo(path: string, { email }: Pick<ConsolePerson, "email"> = person) {
    const opened = await openSignedInPage(site, email);
    const { page } = opened;
    const streams: string[] = [];
    page.context().on("request", (request) => {
      if (request.url().endsWith("/console/api/changes")) streams.push(request.url());
    });
    await page.context().addInitScript("window.setInterval = () => 0");
    const second = await page.context().newPage();
    const heard = page.waitForResponse(/console\/api\/changes$/);
    await page.goto(path);
    await heard;
    await second.goto(path);
    return {
      pages: [page, second],
      onBoth: <T>(look: (page: Page) => Promise<T>): Promise<T[]> => Promise.all([page, second].map(look)),
      async [Symbol.asyncDispose]() {
        expect(streams).toHaveLength(1);
        expect(opened.complaints).toEqual([]);
        await opened[Symbol.asyncDispose]();
      },
    };
  }

  test("a call is logged, unless the page is paused", async () => {
    await person.call("POST", "/chat/completions", ask);
    await using opened = await openTwo("/console/requests");
    const { pages, onBoth } = opened;
    const rows = (page: Page) => page.getByRole("region", { name: "Requests" }).locator("tbody tr");
    await onBoth((page) => expect.poll(() => rows(page).count()).toBe(1));
    await person.call("POST", "/chat/completions", ask);
    await onBoth((page) => expect.poll(() => rows(page).count()).toBe(2));

    const [paused, live] = pages;
    if (paused === undefined || live === undefined) throw new Error("There are two pages.");
    await paused.getByRole("switch", { name: "Live" }).click();
    await person.call("POST", "/chat/completions", ask);
    await expect.poll(() => rows(live).count()).toBe(3);
    const held = await rows(paused).allTextContents();
    expect(held).toHaveLength(2);
    await paused.getByRole("switch", { name: "Live" }).click();
    await expect.poll(() => rows(paused).count()).toBe(3);
  });

  test("a key is made and revoked", async () => {
    await using opened = await openTwo("/console/keys");
    const { onBoth } = opened;
    const { parts } = site.gateway;
    const row = (page: Page) => page.getByRole("region", { name: "API keys", exact: true }).getByText("Made elsewhere");
    await onBoth((page) => page.getByRole("link", { name: "program" }).waitFor());
    const request = { accountId: person.accountId, name: "Made elsewhere" };
    const { apiKey } = await createApiKey({ ...parts, randomBytes }, request);
    await onBoth((page) => row(page).first().waitFor());
    await revokeApiKey(parts, apiKey.id);
    await onBoth((page) => row(page).first().waitFor({ state: "detached" }));
  });

  test("a task starts and ends", async () => {
    await using opened = await openTwo("/console/tasks?view=table");
    const { onBoth } = opened;
    await onBoth((page) => page.getByText("No tasks yet").first().waitFor());
    const { id } = await person.call("POST", "/images/generations", { model: "sandbox-image", prompt: "A pier" });
    const row = (page: Page) => page.getByRole("row").filter({ hasText: id });
    await onBoth((page) => row(page).waitFor());
    await onBoth((page) => row(page).getByText("Succeeded").first().waitFor());
  });

  test("an event is delivered", async () => {
    await using receiver = await startWebhookReceiver();
    const { id } = await person.call("POST", "/webhook_endpoints", { url: receiver.url });
    await using opened = await openTwo(`/console/webhooks/${id}`);
    const { onBoth } = opened;
    await onBoth((page) => page.getByText("No deliveries yet").first().waitFor());
    await person.call("POST", `/webhook_endpoints/${id}/test`, {});
    const log = (page: Page) => page.getByRole("list", { name: "Deliveries" });
    await onBoth((page) => log(page).getByText("Delivered", { exact: true }).first().waitFor());
  });

  test("the first call arrives", async () => {
    const email = await site.createPerson({ credit: "5" });
    await using opened = await openTwo("/console", { email });
    const { pages, onBoth } = opened;
    const watch = (page: Page) => page.getByRole("region", { name: "First call", exact: true }).getByRole("status");
    await pages[0]?.getByRole("button", { name: "Create key and copy the call" }).click();
    await onBoth((page) => watch(page).getByText("Waiting for your first call…").first().waitFor());
    const key = (await pages[0]?.getByRole("region", { name: "Your new key" }).locator("code").textContent()) ?? "";
    const post = (body: object) =>
      fetch(`${site.siteUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await post({ ...ask, model: "no-such-model" })).status).toBe(404);
    await onBoth((page) => watch(page).getByText("Your call arrived, but it did not succeed").first().waitFor());
    expect((await post(ask)).status).toBe(200);
    await onBoth((page) => watch(page).getByText("Your first call succeeded").first().waitFor());
  });
});

describe.skipIf(!hasBrowser)("the operator's changes while pages are open", () => {
  test("the announcement, name, links and colours change at once, and on the next page for visitors", async () => {
    await using site = await startBrowsedSite({ settings: { announcement: "Closed on Sunday." } });
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    const heard = page.waitForResponse(/console\/api\/changes$/);
    await page.goto("/console/settings");
    await heard;
    const announcement = (of: Page) => of.getByRole("region", { name: "Announcement" });
    await announcement(page).getByText("Closed on Sunday.").first().waitFor();
    const readAccent = () => page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')");
    const accent = await readAccent();
    const brand = { brand_name: "Example AI", brand_accent: "#6d28d9", terms_url: "https://example.com/terms" };
    site.gateway.rebrand({ ...brand, announcement: "Open again.", announcement_level: "critical" });
    await announcement(page).getByText("Open again.").first().waitFor();
    await page.getByRole("link", { name: "Example AI" }).first().waitFor();
    await expect.poll(readAccent).not.toBe(accent);
    await page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: "Usage" }).click();
    await expect.poll(() => page.title()).toBe("Usage · Example AI");
    await expect.poll(() => listAxeFindings(page)).toEqual([]);

    await using visited = await site.openPage();
    await visited.page.goto("/sign-up");
    await visited.page.getByRole("link", { name: "Terms" }).first().waitFor();
    await announcement(visited.page).getByText("Open again.").first().waitFor();
    site.gateway.rebrand({ announcement: undefined });
    await announcement(page).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Example AI" }).first().waitFor({ state: "detached" });
    await expect.poll(readAccent).toBe(accent);
    expect(opened.complaints).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)("without the change stream", () => {
  test("the first call and the request log are polled", async () => {
    await using site = await startBrowsedSite({ hasRunningClock: true });
    const person = await createConsolePerson(site);
    await using opened = await openSignedInPage(site, person.email);
    const { page } = opened;
    await page.context().route("**/console/api/changes", (route) => route.fulfill({ status: 429, body: "{}" }));
    await page.goto("/console");
    await page.getByText("Waiting for your first call…").first().waitFor();
    const log = await page.context().newPage();
    await log.goto("/console/requests");
    await log.getByText("No requests yet").first().waitFor();
    await person.call("POST", "/chat/completions", ask);
    await page.getByText("Your first call succeeded").first().waitFor();
    await log
      .getByRole("region", { name: "Requests" })
      .locator("tbody tr")
      .filter({ hasText: "sandbox-chat" })
      .waitFor();
  });
});

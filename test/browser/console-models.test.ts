import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { modelTypes } from "../../src/features/catalog/index.ts";
import { repositoryDir } from "../harness/repository-files.ts";
import { type BrowsedSite, listAxeFindings, openSettled, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { signInByCookie } from "../harness/site/signed-in-page.ts";
import { waitUntil } from "../harness/wait-until.ts";

type Opened = Awaited<ReturnType<BrowsedSite["openPage"]>>;

/** The sandbox's models, and one with a slash in its id. */
function writeCatalog(): string {
  const catalog = parse(readFileSync(join(repositoryDir, "catalogs/sandbox.yaml"), "utf8"));
  const [chat] = catalog.models;
  const [price] = catalog.prices;
  catalog.models.push({ ...chat, id: "team/fast-chat", name: "Fast Chat", deprecated_at: "2026-01-01T00:00:00Z" });
  catalog.prices.push({ ...price, model: "team/fast-chat" });
  return stringify(catalog);
}

describe.skipIf(!hasBrowser)("models and prices in the console", () => {
  let site: BrowsedSite;
  let opened: Opened;
  let page: Page;
  beforeAll(async () => {
    site = await startBrowsedSite();
    const outcome = await site.gateway.applyCatalog(writeCatalog());
    await waitUntil(
      "the catalog",
      () => outcome.kind === "accepted" && site.gateway.catalogVersion() === outcome.version,
    );
    opened = await site.openPage({ permissions: ["clipboard-read", "clipboard-write"] });
    page = opened.page;
    await signInByCookie(site, page, await site.createPerson());
    await page.goto("/console/models");
    await page.getByRole("heading", { name: "Models and prices", level: 1 }).waitFor();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
  const listNames = () => page.getByRole("row").getByRole("link").allTextContents();

  test("every model is listed with its id, its capabilities and its exact price", async () => {
    await page.goto("/console/models");
    await row("Sandbox Chat").waitFor();
    await expect.poll(() => listNames()).toHaveLength(modelTypes.length + 1);
    const readChat = async () => (await row("Sandbox Chat").innerText()).replaceAll(/\s+/g, " ");
    for (const text of ["sandbox-chat", "Available", "Tools", "Input $0.15 / 1M tokens", "Output $0.60"]) {
      await expect.poll(readChat).toContain(text);
    }
    await expect.poll(() => row("Sandbox Video").innerText()).toContain("at least $0.25");
    await expect.poll(() => row("Sandbox Drama").innerText()).toContain("Storyboard $0.10 / call");
    await expect.poll(() => row("Fast Chat").innerText()).toContain("Deprecated");
    await row("Sandbox Chat").getByRole("button", { name: "Copy ID of Sandbox Chat" }).click();
    await row("Sandbox Chat").getByText("Copied").first().waitFor();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("sandbox-chat");
  });

  test("search and filters are in the address, so that a list can be bookmarked", { tags: "extended" }, async () => {
    await page.goto("/console/models");
    await row("Sandbox Chat").waitFor();
    await page.getByRole("searchbox").fill("chat");
    await row("Sandbox Image").waitFor({ state: "detached" });
    await page.getByLabel("Capability").selectOption("tools");
    expect(new URL(page.url()).search).toBe("?q=chat&capability=tools");
    await page.reload();
    await row("Fast Chat").waitFor();
    await expect.poll(() => listNames()).toEqual(["Sandbox Chat", "Fast Chat"]);
    await page.getByRole("searchbox").fill("");
    await page.getByLabel("Capability").selectOption("");
    await page.getByLabel("Type").selectOption("image");
    await row("Sandbox Chat").waitFor({ state: "detached" });
    await expect.poll(() => listNames()).toEqual(["Sandbox Image"]);
    expect(new URL(page.url()).search).toBe("?type=image");
    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("button", { name: "Show all models" }).click();
    await row("Sandbox Chat").waitFor();
    expect(new URL(page.url()).search).toBe("");
  });

  test("a model's page has a sample call for this deployment in three languages, by keyboard too", async () => {
    await page.goto("/console/models");
    await row("Sandbox Image").getByRole("link").click();
    await page.getByRole("heading", { name: "Sandbox Image", level: 1 }).waitFor();
    const code = page.getByRole("tabpanel");
    await code.getByText(`${site.siteUrl}/v1/images/generations`).first().waitFor();
    await page.getByRole("tab", { name: "curl" }).focus();
    await page.keyboard.press("ArrowRight");
    await code.getByText("import requests").first().waitFor();
    await page.keyboard.press("ArrowRight");
    await code.getByText('model: "sandbox-image"').first().waitFor();
    const readFacts = async () => (await page.locator("main").innerText()).replaceAll(/\s+/g, " ");
    for (const text of [
      "$0.02 / image",
      "1024 × 1024",
      "up to 4",
      "4,000 characters",
      "Idempotency-Key",
      "a webhook",
    ]) {
      await expect.poll(readFacts).toContain(text);
    }
    const link = page.getByRole("link", { name: "Try it in the playground" });
    await expect.poll(() => link.getAttribute("href")).toBe("/console/playground?model=sandbox-image");
  });

  test("an id may have slashes in it", { tags: "extended" }, async () => {
    await page.goto("/console/models");
    await row("Fast Chat").getByRole("link").click();
    await page.getByRole("heading", { name: "Fast Chat", level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/console/models/team/fast-chat");
    await page.reload();
    await page.getByRole("tabpanel").getByText('"model": "team/fast-chat"').first().waitFor();
  });

  test("a list of three hundred models renders the visible ones below a fixed header", {
    tags: "extended",
  }, async () => {
    await page.route("**/console/api/models", async (route) => {
      const list = await (await route.fetch()).json();
      const data = Array.from({ length: 300 }, (_, n) => ({ ...list.data[0], id: `m-${n}`, name: `Model ${n}` }));
      await route.fulfill({ json: { ...list, data } });
    });
    await page.goto("/console/models");
    await page.locator("table[aria-rowcount='301'] [aria-rowindex='2']").waitFor();
    await expect.poll(() => page.getByRole("row").count()).toBeLessThan(100);
    await expect
      .poll(async () => {
        await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
        return await row("Model 299").count();
      })
      .toBe(1);
    const top = await page.getByRole("columnheader", { name: "Model" }).boundingBox();
    expect(Math.round(top?.y ?? -1)).toBe(0);
    await page.unroute("**/console/api/models");
  });

  test("a model that the account cannot use shows a not-found page", async () => {
    await page.goto("/console/models/team/secret");
    await page.getByRole("heading", { name: "Model not found" }).waitFor();
    await page.getByRole("link", { name: "See all models" }).click();
    await row("Sandbox Chat").waitFor();
  });

  test("a list that fails to load shows it, and loads on retry", { tags: "extended" }, async () => {
    await page.route("**/console/api/models", (route) => route.fulfill({ status: 403, json: refusal }));
    await page.goto("/console/models");
    await page.getByRole("alert").getByText("Not now.").first().waitFor();
    await page.unroute("**/console/api/models");
    await page.getByRole("button", { name: "Try again" }).click();
    await row("Sandbox Chat").waitFor();
  });

  test.each(["/console/models", "/console/models/sandbox-drama", "/console/models/no-such-model"])(
    "%s fits every window in both colour schemes, without axe or console errors",
    { tags: "extended" },
    async (path) => {
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize({ width: 1440, height: 900 });
      await openSettled(page, path);
      for (const [width, colorScheme] of [
        [1440, "light"],
        [768, "light"],
        [390, "dark"],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        if (width !== 768) await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
      expect(opened.complaints).toEqual([]);
      expect(opened.foreignRequests).toEqual([]);
    },
  );
});

const refusal = { error: { code: "account_suspended", message: "Not now.", param: null, type: "permission_error" } };

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, launchBrowser } from "../harness/site/browser.ts";
import { startGateway, type TestGateway } from "../harness/test-gateway.ts";

describe.skipIf(!hasBrowser)("the reference page", () => {
  let browser: Browser;
  let gateway: TestGateway;
  beforeAll(async () => {
    browser = await launchBrowser();
    gateway = await startGateway();
  });
  afterAll(async () => {
    await browser.close();
    await gateway[Symbol.asyncDispose]();
  });

  test("shows the endpoints, asks no other server for anything, and breaks no rule of its own policy", async () => {
    const page = await browser.newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`${gateway.siteUrl}/docs`, { waitUntil: "networkidle" });
    await page.getByRole("heading", { name: "List models" }).first().waitFor();
    await page.getByText("missing_api_key").first().waitFor();
    const foreign = requests.filter((url) => !url.startsWith(gateway.siteUrl) && !url.startsWith("data:"));
    expect(foreign).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test("fits a narrow window", async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    await page.goto(`${gateway.siteUrl}/docs`, { waitUntil: "networkidle" });
    await page.getByRole("heading", { name: "List models" }).first().waitFor();
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    await page.close();
  });
});

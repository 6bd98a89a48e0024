// @module-tag extended
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { type ConsolePerson, createConsolePerson } from "../harness/site/console-person.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { waitUntil } from "../harness/wait-until.ts";

describe.skipIf(!hasBrowser)("the content of requests", () => {
  let site: BrowsedSite;
  let person: ConsolePerson;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
    person = await createConsolePerson(site);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** Sends a call and returns its request id. */
  async function send(traceId: string, more: object = {}): Promise<string> {
    const content = "Write a haiku. My key is sk-slc-0123456789abcdefghij.";
    const body = { model: "sandbox-chat", messages: [{ role: "user", content }], ...more };
    // A stream is not JSON, and is logged all the same.
    await person.call("POST", "/chat/completions", body, { "x-client-request-id": traceId }).catch(() => {});
    return await waitUntil("the call to be logged", async () => {
      const { data } = await person.call("GET", `/requests?client_request_id=${traceId}`);
      return data[0]?.id ?? null;
    });
  }

  async function examine(page: Page): Promise<void> {
    for (const [width, colorScheme] of [
      [1440, "light"],
      [1440, "dark"],
      [390, "light"],
      [390, "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  }

  test("is enabled for a key, shown without secrets, and deleted", async () => {
    await using opened = await openSignedInPage(site, person.email);
    const { page } = opened;
    const before = await send("before");
    await page.goto(`/console/requests/${before}`);
    await page.getByText("No content stored").first().waitFor();
    await examine(page);
    await page.getByRole("link", { name: "Change the key" }).click();
    const field = page.getByLabel("Log request and response content");
    await field.waitFor();
    await expect.poll(() => field.isChecked()).toBe(false);
    await field.check();
    await examine(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Key updated.").first().waitFor();
    await page.getByText("Content log", { exact: true }).first().waitFor();
    await page.getByRole("link", { name: "program" }).click();
    await page.getByText("On: requests and responses are stored for 7 days.").first().waitFor();
    await examine(page);

    const whole = await send("whole");
    await page.goto(`/console/requests/${whole}`);
    await page.getByRole("heading", { name: "Response", exact: true }).waitFor();
    await page.getByText("Secrets are redacted in 1 place.").first().waitFor();
    await page.getByText("My key is sk-slc-[hidden].").first().waitFor();
    await page.getByText("chat.completion").first().waitFor();
    await examine(page);
    const streamed = await send("streamed", { stream: true });
    await page.goto(`/console/requests/${streamed}`);
    await page.getByText("data: [DONE]").first().waitFor();
    await examine(page);

    await page.getByRole("button", { name: "Delete content" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The content was deleted.").first().waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.reload();
    await page.getByText("The content was deleted.").first().waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });
});

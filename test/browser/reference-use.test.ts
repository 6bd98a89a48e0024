// @module-tag extended
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";

describe.skipIf(!hasBrowser)("the interactive parts of the reference", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function openForm(page: Page, path: string): Promise<void> {
    await page.goto(path);
    await page.getByRole("button", { name: "Try it" }).click();
  }

  test("a signed-in person sees a call's price, sends it, sees the response, and finds it in the log", async () => {
    const email = await site.createPerson({ credit: "5" });
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await openForm(page, "/docs/reference/create-chat-completion");
    const form = page.getByRole("dialog");
    await form.getByText("This spends from your balance.").first().waitFor();
    await form.getByText("Available balance: $5.00").first().waitFor();
    await form.getByLabel("Body").fill('{"model": "sandbox-chat", "messages": [');
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("The body is not valid JSON").first().waitFor();
    const messages = [{ role: "user", content: "Say hello." }];
    await form.getByLabel("Body").fill(JSON.stringify({ model: "sandbox-chat", messages }));
    await form.getByRole("button", { name: "Send" }).click();
    const answer = form.getByRole("region", { name: "Response" });
    await answer.getByText("200", { exact: true }).first().waitFor();
    await answer.getByText('"chat.completion"').first().waitFor();
    await answer.getByText("x-request-id").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await answer.getByRole("link", { name: "Open in the request log" }).click();
    // Its heading is the call's own once it is loaded.
    await page.waitForURL(/\/console\/requests\/req_/);
    await page.getByText("/v1/chat/completions").or(page.getByText("chat/completions")).first().waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("a read is sent with one click, and missing or rejected values are shown", async () => {
    const email = await site.createPerson({ credit: "7" });
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await openForm(page, "/docs/reference/get-balance");
    await page.getByRole("dialog").getByText('"available_balance"').first().waitFor();
    await openForm(page, "/docs/reference/get-task");
    const form = page.getByRole("dialog");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("Fill in task_id.").first().waitFor();
    await form.getByLabel("task_id").fill("task_01kh2n8v7m3q5x9d4c6b8a0e2f");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("task_not_found").first().waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
  });

  test("a stream is shown as it arrives, a file is sent, and binary content can be saved", async () => {
    const email = await site.createPerson({ credit: "7" });
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    const form = page.getByRole("dialog");
    await openForm(page, "/docs/reference/create-response");
    await form.getByLabel("Body").fill('{"model": "sandbox-chat", "input": "Say hello.", "stream": true}');
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("response.completed").first().waitFor();
    await openForm(page, "/docs/reference/create-file");
    await form.getByLabel("file").setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
    await form.getByLabel("Other fields, as JSON").fill('{"purpose": "generation"}');
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText('"invalid_file"').first().waitFor();
    await openForm(page, "/docs/reference/create-speech");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByRole("link", { name: /^Save audio\/mpeg/ }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("a visitor without a session is asked to sign in, and returns afterwards", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await openForm(page, "/docs/reference/get-balance");
    await expect
      .poll(() => page.getByRole("dialog").getByRole("link", { name: "Sign in" }).getAttribute("href"))
      .toBe("/sign-in?next=%2Fdocs%2Freference%2Fget-balance");
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
  });

  test("the search finds endpoints, fields, errors and headings, by keyboard alone and signed out", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/docs/guide");
    await page.getByRole("heading", { level: 1 }).waitFor();
    const looks = [
      { words: "/chat/completions", address: "/docs/reference/create-chat-completion" },
      { words: "create a transcription", address: "/docs/reference/create-transcription" },
      { words: "insufficient_balance", address: "/docs/guide/errors#insufficient_balance" },
      { words: "encoding_format", address: "/docs/reference/create-embedding#body-encoding_format" },
      { words: "embeddings", address: "/docs/guide/embeddings" },
    ];
    for (const { words, address } of looks) {
      await page.keyboard.press("Control+K");
      await page.getByRole("combobox", { name: "Search" }).fill(words);
      await page.getByRole("option").first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL(`${site.siteUrl}${address}`);
    }
    await page.keyboard.press("Control+K");
    await page.getByRole("combobox", { name: "Search" }).fill("qqqq");
    await page.getByText("Nothing found for “qqqq”").first().waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });
});

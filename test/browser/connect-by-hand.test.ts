// @module-tag extended
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../harness/gateway-process.ts";
import { type BrowsedSite, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { programState } from "../harness/site/connect-program.ts";
import { approveByPage, notePopups, presentEntry, startLoopbackProgram } from "../harness/site/loopback-program.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { goodPassword } from "../harness/site/site-visitor.ts";
import { waitUntil } from "../harness/wait-until.ts";

/** The contract promises 4 s; browser clocks differ by a few milliseconds. */
const patienceMsMin = 3_950;
const elevenMinutesMs = 11 * 60_000;
const dayMs = 24 * 60 * 60_000;

describe.skipIf(!hasBrowser)("a key that does not arrive at once", () => {
  let site: BrowsedSite;
  let email: string;
  beforeAll(async () => {
    site = await startBrowsedSite({ isPublic: true, hostname: "sluice.test" });
    email = await site.createPerson();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("is offered for manual copy after four seconds if the browser opens no window", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.addInitScript("window.open = () => null");
    await page.goto(presentEntry(program.redirectUri));
    await page.evaluate(`new MutationObserver(() => {
      const says = (text) => document.querySelector("main")?.textContent.includes(text);
      if (says("on its way")) window.approvedMs ??= performance.now();
      if (says("Deliver in this tab")) window.offeredMs ??= performance.now();
    }).observe(document, { subtree: true, childList: true })`);
    await approveByPage(page);
    const byHand = page.getByRole("button", { name: "Deliver in this tab" });
    await byHand.waitFor();
    expect(await page.evaluate("window.offeredMs - window.approvedMs")).toBeGreaterThan(patienceMsMin);
    expect(program.callbacks).toEqual([]);
    await byHand.click();
    const { query, headers } = await program.called();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
    expect([query.get("state"), headers.referer]).toEqual([programState, undefined]);
    // The program's page replaced ours: going back leads to no page with the key.
    await page.waitForURL(/\/callback/);
    const devtools = await page.context().newCDPSession(page);
    const { entries } = await devtools.send("Page.getNavigationHistory");
    expect(entries.filter(({ url }) => url.includes("/connect/requests/"))).toEqual([]);
  });

  test("is not lost without a listener: a program that starts late gets it", async () => {
    const port = Number(await findFreePort());
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.goto(presentEntry(`http://127.0.0.1:${port}/callback`));
    await approveByPage(page);
    const byHand = page.getByRole("button", { name: "Deliver in this tab" });
    await byHand.waitFor();
    await using program = await startLoopbackProgram({ port });
    await byHand.click();
    const { query } = await program.called();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
  });

  test("waits for a slow program, and the page shows when it has arrived", async () => {
    await using program = await startLoopbackProgram({ isSlow: true });
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    const popups = notePopups(page.context());
    await page.goto(presentEntry(program.redirectUri));
    await approveByPage(page);
    const { query } = await program.called();
    await page.getByRole("button", { name: "Deliver in this tab" }).waitFor();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Deliver in this tab" }).count()).toBe(0);
    program.answerNow();
    await waitUntil("the window to be closed", () => popups[0]?.isClosed());
    expect(program.callbacks).toHaveLength(1);
  });

  test("arrives after reauthentication too, through a new window", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    site.clock.advance(dayMs);
    await page.goto(presentEntry(program.redirectUri));
    await approveByPage(page);
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await waitUntil("the window to be closed", () => page.context().pages().length === 1);
    await dialog.getByLabel("Password", { exact: true }).fill(goodPassword);
    await dialog.getByRole("button", { name: "Confirm" }).click();
    const { query } = await program.called();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
  });

  test("is not created after the request has expired, and no window stays open", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.goto(presentEntry(program.redirectUri));
    await page.getByRole("heading", { name: "Connect a program" }).waitFor();
    site.clock.advance(elevenMinutesMs);
    await approveByPage(page);
    await page.getByRole("alert").filter({ hasText: "has expired" }).waitFor();
    await waitUntil("the window to be closed", () => page.context().pages().length === 1);
    expect(program.callbacks).toEqual([]);
  });
});

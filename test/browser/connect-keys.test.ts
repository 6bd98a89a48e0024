// @module-tag extended
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, fillSignIn, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { askSite, makeVerifier, programState } from "../harness/site/connect-program.ts";
import { approveByPage, presentEntry, startLoopbackProgram } from "../harness/site/loopback-program.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";
import { goodPassword } from "../harness/site/site-visitor.ts";
import { waitUntil } from "../harness/wait-until.ts";

const dayMs = 24 * 60 * 60_000;

describe.skipIf(!hasBrowser)("the keys of connected programs", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** Connects a program of this name in the given page, and returns its key. */
  async function connect(page: Page, client: string): Promise<string> {
    await using program = await startLoopbackProgram();
    await page.goto(presentEntry(program.redirectUri, { client }));
    await approveByPage(page);
    const { query } = await program.called();
    return query.get("api_key") ?? "";
  }

  async function isAccepted(key: string): Promise<boolean> {
    return (await site.gateway.get("/models", key)).status === 200;
  }

  test("are replaced when the program connects again, which the page announces; one is listed", async () => {
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    const older = await connect(page, "my-tool");
    expect(await isAccepted(older)).toBe(true);

    await using program = await startLoopbackProgram();
    await page.goto(presentEntry(program.redirectUri));
    await page
      .getByText(`the key that ends in ${older.slice(-4)}`)
      .first()
      .waitFor();
    expect(await isAccepted(older)).toBe(true);
    await approveByPage(page);
    const newer = (await program.called()).query.get("api_key") ?? "";
    // The gateway's clock stands still, so no cache entry has expired.
    await waitUntil("the older key to end", async () => !(await isAccepted(older)));
    expect(await isAccepted(newer)).toBe(true);

    await page.goto("/security");
    const connected = page.getByRole("list", { name: "Connected programs" }).getByRole("listitem");
    await connected.first().waitFor();
    await expect.poll(() => connected.allTextContents()).toEqual([expect.stringContaining("my-tool")]);
    await page.getByRole("button", { name: "Disconnect my-tool" }).click();
    await page.getByText("No program is connected.").first().waitFor();
    await waitUntil("the key to end", async () => !(await isAccepted(newer)));
  });

  test("include one live key after two concurrent approvals of the same program", async () => {
    const email = await site.createPerson();
    await using first = await openSignedInPage(site, email);
    await using second = await openSignedInPage(site, email);
    await using program = await startLoopbackProgram();
    const pages = [first.page, second.page];
    for (const page of pages) {
      await page.goto(presentEntry(program.redirectUri));
      await page.locator("button[type=submit][aria-disabled=false]").waitFor();
    }
    await Promise.all(pages.map(approveByPage));
    await waitUntil("both answers", () => program.callbacks.length === 2);
    const keys = program.callbacks.map(({ query }) => query.get("api_key") ?? "");
    expect(new Set(keys).size).toBe(2);
    await waitUntil("one of them to end", async () => (await Promise.all(keys.map(isAccepted))).includes(false));
    expect((await Promise.all(keys.map(isAccepted))).filter(Boolean)).toHaveLength(1);
    await first.page.goto("/security");
    const connected = first.page.getByRole("list", { name: "Connected programs" }).getByRole("listitem");
    await connected.first().waitFor();
    await expect.poll(() => connected.count()).toBe(1);
  });

  test("have the expiry and the budget that were set on the page", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    await page.goto(presentEntry(program.redirectUri, { client: "thrifty" }));
    await page.getByText("Limits", { exact: true }).click();
    await page.getByLabel("Expires after (days)").fill("7");
    await page.getByLabel("Budget").fill("12.50");
    await approveByPage(page);
    const key = (await program.called()).query.get("api_key") ?? "";
    expect(await isAccepted(key)).toBe(true);
    const row = await site.gateway.database
      .selectFrom("api_keys")
      .select(["name", "expires_at", "budget_nano", "last_four"])
      .where("last_four", "=", key.slice(-4))
      .executeTakeFirstOrThrow();
    const endsAt = site.clock.now().getTime() + 7 * dayMs;
    expect(row).toMatchObject({ name: "BA:thrifty", expires_at: new Date(endsAt) });
    expect(String(row.budget_nano)).toBe("12500000000");
  });

  test("do not pass through the browser if the program uses a code, and the code works once", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    const { verifier, challenge } = makeVerifier();
    await page.goto(presentEntry(program.redirectUri, { client: "coder", ...challenge }));
    await approveByPage(page);
    const { query } = await program.called();
    expect([query.has("api_key"), query.get("state")]).toEqual([false, programState]);
    const exchange = { code: query.get("code"), code_verifier: verifier };
    const foreign = await askSite(site, "/connect/token", { ...exchange, code_verifier: makeVerifier().verifier });
    expect([foreign.status, foreign.body.error?.code]).toEqual([400, "invalid_grant"]);
    const { status, body } = await askSite(site, "/connect/token", exchange);
    expect(status).toBe(200);
    expect(await isAccepted(body.api_key)).toBe(true);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    const again = await askSite(site, "/connect/token", exchange);
    expect([again.status, again.body.error.code]).toEqual([400, "invalid_grant"]);
    await waitUntil("the key to end", async () => !(await isAccepted(body.api_key)));
  });

  test("are issued to the device whose code was typed, and to no other", async () => {
    const { body: offer } = await askSite(site, "/connect/device", { client: "living-room" });
    const poll = () => askSite(site, "/connect/device/token", { device_code: offer.device_code });
    expect((await poll()).body.error.code).toBe("authorization_pending");
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    await page.goto(new URL(offer.verification_uri).pathname);
    const field = page.getByLabel("Code");
    await field.fill("WRNG-CODE");
    await page.getByRole("button", { name: "Continue" }).click();
    await field.and(page.locator("[aria-invalid=true]")).waitFor();
    await expect.poll(() => field.inputValue()).toBe("WRNG-CODE");
    await field.fill(offer.user_code.toLowerCase().replace("-", " "));
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("A program that shows a code calls itself").first().waitFor();
    await expect.poll(() => page.getByRole("main").textContent()).toContain("living-room");
    await approveByPage(page);
    await page.getByText("Go back to the program").first().waitFor();
    site.clock.advance(offer.interval * 1000);
    const { status, body } = await poll();
    expect([status, body.name]).toEqual([200, "BA:living-room"]);
    expect(await isAccepted(body.api_key)).toBe(true);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    expect(page.context().pages()).toHaveLength(1);
  });

  test("are not issued to a device that was denied", async () => {
    const { body: offer } = await askSite(site, "/connect/device", { client: "bedroom" });
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    const complete = new URL(offer.verification_uri_complete);
    await page.goto(`${complete.pathname}${complete.search}`);
    await expect.poll(() => page.getByLabel("Code").inputValue()).toBe(offer.user_code);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("heading", { name: "Denied" }).waitFor();
    const { status, body } = await askSite(site, "/connect/device/token", { device_code: offer.device_code });
    expect([status, body.error.code]).toEqual([400, "access_denied"]);
  });

  test("can be requested on the older path too, with all of its parameters", async () => {
    await using program = await startLoopbackProgram();
    await using opened = await openSignedInPage(site, await site.createPerson());
    const { page } = opened;
    const older = presentEntry(program.redirectUri, { client: "old-tool" }).replace("browser-auth", "cli-auth");
    const statuses: number[] = [];
    page.on("response", (response) => response.url().includes("-auth") && statuses.push(response.status()));
    await page.goto(older);
    await approveByPage(page);
    const { query } = await program.called();
    expect(statuses).toEqual([308, 303]);
    expect(query.get("state")).toBe(programState);
    expect(await isAccepted(query.get("api_key") ?? "")).toBe(true);
  });

  test("need reauthentication if the session is older than a day", async () => {
    await using program = await startLoopbackProgram();
    const email = await site.createPerson();
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    site.clock.advance(dayMs + 1000);
    await page.goto(presentEntry(program.redirectUri, { client: "patient" }));
    await approveByPage(page);
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    expect(program.callbacks).toEqual([]);
    await dialog.getByLabel("Password", { exact: true }).fill(goodPassword);
    await dialog.getByRole("button", { name: "Confirm" }).click();
    const { query } = await program.called();
    expect(await isAccepted(query.get("api_key") ?? "")).toBe(true);
  });

  test("are still created when the session ends midway: sign-in restores the request and the input", async () => {
    await using program = await startLoopbackProgram();
    const email = await site.createPerson();
    await using opened = await openSignedInPage(site, email);
    await using elsewhere = await openSignedInPage(site, email);
    const { page } = opened;
    await page.goto(presentEntry(program.redirectUri, { client: "steady" }));
    const address = page.url();
    await page.getByText("Limits", { exact: true }).click();
    await page.getByLabel("Expires after (days)").fill("30");
    await elsewhere.page.goto("/security");
    await elsewhere.page.getByRole("button", { name: "End all others" }).click();
    await elsewhere.page.getByText("All other sessions have ended.").first().waitFor();

    await approveByPage(page);
    await page.waitForURL(/\/sign-in\?next=%2Fconnect%2Frequests%2F/);
    expect(program.callbacks).toEqual([]);
    await fillSignIn(page, email);
    await page.waitForURL(address);
    await expect.poll(() => page.getByLabel("Expires after (days)").inputValue()).toBe("30");
    await approveByPage(page);
    const { query } = await program.called();
    expect(await isAccepted(query.get("api_key") ?? "")).toBe(true);
    expect(page.context().pages()).toHaveLength(1);
  });

  test("are never created for a request that another account has opened", async () => {
    await using program = await startLoopbackProgram();
    await using owner = await openSignedInPage(site, await site.createPerson());
    await owner.page.goto(presentEntry(program.redirectUri, { client: "private" }));
    await owner.page.getByRole("heading", { name: "Connect a program" }).waitFor();
    await using stranger = await openSignedInPage(site, await site.createPerson());
    await stranger.page.goto(owner.page.url());
    await stranger.page.getByRole("heading", { name: "This request cannot be answered" }).waitFor();
    expect(await stranger.page.getByRole("main").textContent()).not.toContain("private");
    await expect.poll(() => stranger.page.getByRole("button", { name: "Approve" }).count()).toBe(0);
    await approveByPage(owner.page);
    expect(await isAccepted((await program.called()).query.get("api_key") ?? "")).toBe(true);
    // Reopening it shows that it is answered.
    await owner.page.reload();
    await owner.page.getByText("This request was already approved.").first().waitFor();
  });
});

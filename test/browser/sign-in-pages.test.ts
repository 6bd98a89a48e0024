import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BrowsedSite,
  fillSignIn,
  forgetSession,
  listAxeFindings,
  signInByPage,
  startBrowsedSite,
} from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { presentEntry, startLoopbackProgram } from "../harness/site/loopback-program.ts";
import { goodPassword } from "../harness/site/site-visitor.ts";
import { readBase32, showTotp } from "../harness/site/totp-app.ts";

const newPassword = "five other random words here";
const totpStepMs = 30_000;

describe.skipIf(!hasBrowser)("signing in on the pages", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** Opens the link that the gateway prints at start. Its secret does not stay in the address bar. */
  async function openOutbox(page: Page): Promise<void> {
    await page.goto(site.gateway.outboxUrl ?? "");
    await page.getByRole("heading", { name: "Outbox" }).waitFor();
    await page.waitForURL((url) => url.hash === "");
  }

  /** Opens the link of the newest mail to an address in the outbox. */
  async function openMailedLink(page: Page, address: string): Promise<void> {
    await openOutbox(page);
    await page.getByRole("region").filter({ hasText: address }).first().getByRole("link").first().click();
  }

  async function askForAccount(page: Page, address: string): Promise<void> {
    await page.goto("/sign-up");
    await page.getByLabel("E-mail address").fill(address);
    await page.getByLabel("Password", { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
  }

  test("a sign-up is completed by the link in the mail, in another browser only with the password", async () => {
    const address = makeAddress();
    await using first = await site.openPage();
    await askForAccount(first.page, address);
    await using second = await site.openPage();
    const { page } = second;
    await openMailedLink(page, address);
    const password = page.getByLabel("Password that you chose", { exact: true });
    await password.waitFor();
    await password.fill("not this one");
    await page.getByRole("button", { name: "Confirm and sign in" }).click();
    await password.and(page.locator("[aria-invalid=true]")).waitFor();
    await password.fill(goodPassword);
    await page.getByRole("button", { name: "Confirm and sign in" }).click();
    await page.getByRole("button", { name: `Account of ${address}` }).waitFor();
    // The token is in no address that leads away from the site.
    expect(page.url()).toBe(`${site.siteUrl}/console`);
    expect(second.complaints).toEqual([]);
  });

  test("signing up with a known address looks like any other sign-up, and its owner gets a mail", async () => {
    const known = await site.createPerson();
    const unknown = makeAddress();
    await using opened = await site.openPage();
    const { page } = opened;
    await askForAccount(page, known);
    const told = await page.getByRole("main").textContent();
    await askForAccount(page, unknown);
    expect((await page.getByRole("main").textContent())?.replace(unknown, known)).toBe(told);
    await openOutbox(page);
    const mails = page.getByRole("region");
    await mails.first().waitFor();
    await expect
      .poll(() => mails.filter({ hasText: known }).textContent())
      .toMatch(/already has an account|already have an account/i);
  });

  test("an unknown address and a wrong password get the same error, and the typed values stay", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    const refusals: (string | null)[] = [];
    for (const address of [email, makeAddress()]) {
      await page.goto("/sign-in");
      await page.getByLabel("E-mail address").fill(address);
      await page.getByLabel("Password", { exact: true }).fill("not this one at all");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.locator("[role=alert], [aria-invalid=true]").first().waitFor();
      await expect.poll(() => page.getByLabel("E-mail address").inputValue()).toBe(address);
      refusals.push(await page.getByRole("main").textContent());
    }
    expect(refusals[0]).toBe(refusals[1]);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
  });

  test("a forgotten password is reset by a link that works once, and every session ends", async () => {
    const email = await site.createPerson();
    await using elsewhere = await site.openPage();
    await signInByPage(elsewhere.page, email, "/console");
    await elsewhere.page.getByRole("button", { name: `Account of ${email}` }).waitFor();
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/sign-in");
    await page.getByRole("link", { name: "Forgot password?" }).click();
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Send link" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    await openMailedLink(page, email);
    const link = page.url();
    const change = page.getByRole("button", { name: "Change password" });
    await page.getByLabel("New password", { exact: true }).fill("password1");
    await change.click();
    await page.locator("[name=password][aria-invalid=true]").waitFor();
    await page.getByLabel("New password", { exact: true }).fill(newPassword);
    await change.click();
    await page.getByRole("heading", { name: "Password changed" }).waitFor();
    await elsewhere.page.waitForURL(/\/sign-in\?next=/);

    await page.goto(link);
    await page.getByLabel("New password", { exact: true }).fill(`${newPassword} again`);
    await change.click();
    await page.getByRole("alert").waitFor();
    await signInByPage(page, email, "/console");
    await page.locator("[role=alert], [aria-invalid=true]").first().waitFor();
    await page.getByLabel("Password", { exact: true }).fill(newPassword);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: `Account of ${email}` }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("a code of the app works once, and so does a backup code", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await signInByPage(page, email, "/security");
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByRole("img", { name: "QR code" }).waitFor();
    const secret = readBase32((await page.locator("code").first().textContent()) ?? "");
    await page.getByLabel("Six-digit code").fill(showTotp(secret, site.clock.now()));
    const codes = page.getByRole("list", { name: "Backup codes" }).getByRole("listitem");
    await codes.first().waitFor();
    const [backupCode = ""] = await codes.allTextContents();

    const comeAgain = async () => {
      await forgetSession(page);
      await signInByPage(page, email, "/console");
      await page.getByRole("heading", { name: "Two-factor authentication" }).waitFor();
    };
    const digits = page.getByLabel("Six-digit code");
    await comeAgain();
    // The code that enabled the app is already used.
    await digits.fill(showTotp(secret, site.clock.now()));
    await digits.and(page.locator("[aria-invalid=true]")).waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    site.clock.advance(totpStepMs);
    await digits.fill(showTotp(secret, site.clock.now()));
    await page.getByRole("button", { name: `Account of ${email}` }).waitFor();

    const letters = page.getByRole("textbox", { name: "Backup code" });
    const sendBackupCode = async () => {
      await comeAgain();
      await page.getByRole("tab", { name: "Backup code" }).click();
      await letters.fill(backupCode);
      await page.getByRole("button", { name: "Sign in" }).click();
    };
    await sendBackupCode();
    await page.getByRole("button", { name: `Account of ${email}` }).waitFor();
    await sendBackupCode();
    await letters.and(page.locator("[aria-invalid=true]")).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("too many wrong passwords are shown with the time to wait", { tags: "extended" }, async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/sign-in");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill("not this one at all");
    for (let count = 0; count < 11; count += 1) {
      const answered = page.waitForResponse(/\/console\/api\/sign-in$/);
      await page.getByRole("button", { name: "Sign in" }).click();
      expect((await answered).status()).toBe(count < 10 ? 401 : 429);
      await page.locator("button[type=submit]:not([aria-busy=true])").waitFor();
    }
    await page
      .getByText(/Try again in \d+ minutes/)
      .first()
      .waitFor();
  });

  test("a sign-out ends the session on the server, not only in the browser", { tags: "extended" }, async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await signInByPage(page, email, "/console");
    await page.getByRole("button", { name: `Account of ${email}` }).waitFor();
    const cookies = await page.context().cookies();
    const [session] = cookies.filter(({ name }) => name === "sluice-session");
    expect(session).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
    await page.getByRole("button", { name: `Account of ${email}` }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.context().addCookies(cookies);
    await page.goto("/console");
    await page.waitForURL(/\/sign-in\?next=%2Fconsole$/);
    await fillSignIn(page, email);
    await page.getByRole("button", { name: `Account of ${email}` }).waitFor();
  });

  test("a program can be connected by keyboard, in a small dark window without sideways scrolling", {
    tags: "extended",
  }, async () => {
    await using program = await startLoopbackProgram();
    const email = await site.createPerson();
    await using opened = await site.openPage({ colorScheme: "dark", viewport: { width: 390, height: 800 } });
    const { page } = opened;
    await page.goto(presentEntry(program.redirectUri));
    await page.getByLabel("E-mail address").waitFor();
    await tabUntil(page, "[name=email]");
    await page.keyboard.type(email);
    await tabUntil(page, "[name=password]");
    await page.keyboard.type(goodPassword);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Connect a program" }).waitFor();
    await tabUntil(page, "summary");
    await page.keyboard.press("Space");
    await tabUntil(page, "[name=expires_in_days]");
    await page.keyboard.type("30");
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await tabUntil(page, "button[type=submit]");
    await page.locator("button[type=submit][aria-disabled=false]").waitFor();
    await page.keyboard.press("Space");
    const { query } = await program.called();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
  });

  test("the page for a device's code fits a small window in both colour schemes, without errors", {
    tags: "extended",
  }, async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage({ viewport: { width: 390, height: 800 } });
    const { page } = opened;
    await signInByPage(page, email, "/connect/device");
    await page.getByRole("heading", { name: "Connect a device" }).waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });
});

function makeAddress(): string {
  return `${randomBytes(6).toString("hex")}@example.com`;
}

const tabsMax = 20;

/** Presses Tab until the element has the focus, once it is shown, which may be after its heading. */
async function tabUntil(page: Page, selector: string): Promise<void> {
  await page.locator(selector).first().waitFor();
  for (let count = 0; count < tabsMax; count += 1) {
    if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)})`)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${selector} is not reached by Tab.`);
}

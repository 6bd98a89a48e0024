import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BrowsedSite,
  fillSignIn,
  listAxeFindings,
  openSettled,
  signInByPage,
  startBrowsedSite,
} from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { signInByCookie } from "../harness/site/signed-in-page.ts";
import { goodPassword } from "../harness/site/site-visitor.ts";

describe.skipIf(!hasBrowser)("the site's pages", () => {
  let site: BrowsedSite;
  let email: string;
  beforeAll(async () => {
    site = await startBrowsedSite();
    email = await signUpByPages();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function signUpByPages(): Promise<string> {
    const address = `${randomBytes(6).toString("hex")}@example.com`;
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/sign-up");
    await page.getByLabel("E-mail address").fill(address);
    await page.getByLabel("Password", { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    await page.getByRole("link", { name: "outbox" }).click();
    await page.getByLabel("Link or secret").fill("guessed");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("This is not the outbox's secret.").first().waitFor();
    // Pasted into the address bar of the page that asks for it.
    await page.goto(site.gateway.outboxUrl ?? "");
    await page.getByRole("region").filter({ hasText: address }).getByRole("link").first().click();
    await page.getByRole("button", { name: `Account of ${address}` }).waitFor();
    expect(opened.complaints).toEqual([]);
    return address;
  }

  test("a person who comes without a session is led to sign-in, then to the console", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/console");
    await page.waitForURL(/\/sign-in\?next=%2Fconsole$/);
    await fillSignIn(page, email);
    await page.getByRole("button", { name: `Account of ${email}` }).waitFor();
    await page.goto("/console");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("a wrong password is told, and what was typed stays", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/sign-in");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password", { exact: true }).fill("something else");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await expect.poll(() => page.getByLabel("E-mail address").inputValue()).toBe(email);
    await expect.poll(() => page.getByLabel("Password", { exact: true }).inputValue()).toBe("something else");
  });

  test("a refused field is named at the field, for those who do not see it too", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/sign-up");
    await page.getByLabel("E-mail address").fill("ada@example.com");
    const password = page.getByLabel("Password", { exact: true });
    await password.fill("password1");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await expect.poll(() => password.getAttribute("aria-invalid")).toBe("true");
    const described = (await password.getAttribute("aria-describedby")) ?? "";
    const sentence = await page.locator(`[id="${described.split(" ")[0]}"]`).textContent();
    expect(sentence).toMatch(/password/i);
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
  });

  test.for(["https://evil.example/", "//evil.example/x", "/\\evil.example", "javascript:alert(1)", "/sign-in"])(
    "signing in never leads to %s",
    async (next) => {
      await using opened = await site.openPage();
      await signInByPage(opened.page, email, next);
      await opened.page.getByRole("button", { name: `Account of ${email}` }).waitFor();
      expect(opened.page.url()).toBe(`${site.siteUrl}/console`);
      expect(opened.foreignRequests).toEqual([]);
    },
  );

  test("a session that ended leads to sign-in and back, and what was typed is still there", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await signInByPage(page, email, "/security");
    await page.getByLabel("Name of a new passkey").fill("Laptop at home");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Add passkey" }).click();
    await page.waitForURL(/\/sign-in\?next=%2Fconsole%2Fsettings$/);
    await fillSignIn(page, email);
    await page.waitForURL(`${site.siteUrl}/console/settings`);
    await expect.poll(() => page.getByLabel("Name of a new passkey").inputValue()).toBe("Laptop at home");
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain(goodPassword);
  });

  test("signing in and out needs no pointer", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto("/sign-in");
    await page.getByLabel("E-mail address").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type(email);
    await tabTo(page, "Password");
    await page.keyboard.type(goodPassword);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: `Account of ${email}` }).waitFor();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await tabTo(page, `Account of ${email}`, "Shift+Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("End");
    await expect.poll(() => nameOfFocus(page)).toBe("Sign out");
    await page.keyboard.press("Escape");
    await expect.poll(() => nameOfFocus(page)).toBe(`Account of ${email}`);
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => nameOfFocus(page)).toBe("Sign out");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto("/console");
    await page.waitForURL(/\/sign-in\?next=%2Fconsole$/);
  });

  test("a chosen colour is in the next page before any script runs", async () => {
    await using opened = await site.openPage({ colorScheme: "light" });
    const { page } = opened;
    await page.goto("/sign-in");
    await page.getByText("Dark", { exact: true }).click();
    const answer = await page.request.get("/sign-in");
    expect(await answer.text()).toContain('data-theme="dark"');
    await expect.poll(() => page.evaluate("getComputedStyle(document.documentElement).colorScheme")).toBe("dark");
    await page.getByText("System", { exact: true }).click();
    expect(await (await page.request.get("/sign-in")).text()).toContain('data-theme="system"');
  });

  test("an address that does not exist gets a page that says so", async () => {
    await using opened = await site.openPage();
    const answer = await opened.page.goto("/nowhere");
    expect(answer?.status()).toBe(404);
    await opened.page.getByRole("heading", { name: "Page not found" }).waitFor();
  });

  test.for([
    { path: "/sign-in", heading: "Sign in" },
    { path: "/sign-up", heading: "Create an account" },
    { path: "/reset-password", heading: "Reset your password" },
    { path: "/reset-password?token=1", heading: "Choose a new password" },
    { path: "/verify-email?token=1", heading: "Confirm your address" },
    { path: "/verify-email", heading: "This link is not complete" },
    { path: "/outbox", heading: "Outbox" },
    { path: "/nowhere", heading: "Page not found" },
    { path: "/console", heading: "Overview", isPrivate: true },
    { path: "/security", heading: "Settings", isPrivate: true },
  ])("$path fits every window in both colours, and neither axe nor the browser complains", async (entry) => {
    await using opened = await site.openPage();
    const { page, complaints, foreignRequests } = opened;
    if (entry.isPrivate === true) await signInByCookie(site, page, email);
    // It comes into the widest window and becomes narrow there; then into the narrowest, and becomes wide.
    for (const [colorScheme, widths] of [
      ["light", [1440, 768, 390]],
      ["dark", [390, 768, 1440]],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: widths[0], height: 900 });
      await openSettled(page, entry.path);
      await page.getByRole("heading", { name: entry.heading, level: 1 }).waitFor();
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        if (width === 390) await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
    }
    expect(complaints).toEqual([]);
    expect(foreignRequests).toEqual([]);
    await expect.poll(() => page.title()).toBe(`${entry.heading} · Sluice`);
  });
});

const tabsMax = 20;

async function nameOfFocus(page: Page): Promise<string> {
  return await page.evaluate(`(() => {
    const element = document.activeElement;
    return element?.getAttribute("aria-label") ?? element?.labels?.[0]?.textContent ?? element?.textContent ?? "";
  })()`);
}

async function tabTo(page: Page, name: string, key = "Tab"): Promise<void> {
  for (let count = 0; count < tabsMax; count += 1) {
    if ((await nameOfFocus(page)) === name) return;
    await page.keyboard.press(key);
  }
  throw new Error(`Nothing called ${name} is reached by Tab.`);
}

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type BrowsedSite,
  expireSessionAtNextChange,
  fillSignIn,
  listAxeFindings,
  openSettled,
  signInByPage,
  startBrowsedSite,
} from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { findLayoutFaults } from "../harness/site/find-layout-faults.ts";
import { signInByCookie } from "../harness/site/signed-in-page.ts";
import { goodPassword, readMail, visitSite } from "../harness/site/site-visitor.ts";

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
    await page.getByText("The outbox secret is wrong. Copy it from the link printed at startup.").first().waitFor();
    // The link pasted into the address bar of the page that asks for the secret.
    await page.goto(site.gateway.outboxUrl ?? "");
    await page.getByRole("region").filter({ hasText: address }).getByRole("link").first().click();
    await page.getByRole("button", { name: `Account of ${address}` }).waitFor();
    expect(opened.complaints).toEqual([]);
    return address;
  }

  test("a visitor without a session is led to sign-in, then to the console", async () => {
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

  test("a wrong password is an error, and the typed values stay", async () => {
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

  test("a rejected field has its error at the field, for screen readers too", async () => {
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

  async function expectConsoleAfter(next: string): Promise<void> {
    await using opened = await site.openPage();
    await signInByPage(opened.page, email, next);
    await opened.page.getByRole("button", { name: `Account of ${email}` }).waitFor();
    expect(opened.page.url()).toBe(`${site.siteUrl}/console`);
    expect(opened.foreignRequests).toEqual([]);
  }

  test("signing in never leads to //evil.example/x", () => expectConsoleAfter("//evil.example/x"));

  test.for(["https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/sign-in"])(
    "signing in never leads to %s",
    { tags: "extended" },
    expectConsoleAfter,
  );

  test("an expired session leads to sign-in and back, and the typed values are still there", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    await signInByPage(page, email, "/security");
    await page.getByLabel("Name of a new passkey").fill("Laptop at home");
    await expireSessionAtNextChange(page);
    await page.getByRole("button", { name: "Add passkey" }).click();
    await page.waitForURL(/\/sign-in\?next=%2Fconsole%2Fsettings$/);
    await fillSignIn(page, email);
    await page.waitForURL(`${site.siteUrl}/console/settings`);
    await expect.poll(() => page.getByLabel("Name of a new passkey").inputValue()).toBe("Laptop at home");
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.toContain(goodPassword);
  });

  test("signing in and out works without a pointer", async () => {
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

  test("a chosen colour scheme is in the next page before any script runs", { tags: "extended" }, async () => {
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

  test("an unknown address gets a not-found page", async () => {
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
    { path: "/verify-email", heading: "This link is incomplete" },
    { path: "/outbox", heading: "Outbox" },
    { path: "/nowhere", heading: "Page not found" },
    { path: "/console", heading: "Overview", isPrivate: true },
    { path: "/security", heading: "Settings", isPrivate: true },
    { path: "/", heading: "One API for chat, images, video and speech", isPrivate: true },
    { path: "/docs", heading: "API reference", isPrivate: true },
    { path: "/docs/guide/media", heading: "Images, video, avatars and speech", isPrivate: true },
  ])(
    "$path fits every window in both colour schemes, without axe or console errors",
    { tags: "extended" },
    async (entry) => {
      await using opened = await site.openPage();
      const { page, complaints, foreignRequests } = opened;
      if (entry.isPrivate === true) await signInByCookie(site, page, email);
      // Loads in the widest window and narrows it; then loads in the narrowest and widens it.
      for (const widths of [
        [1440, 768, 390],
        [390, 768, 1440],
      ] as const) {
        await page.setViewportSize({ width: widths[0], height: 900 });
        await openSettled(page, entry.path);
        await page.getByRole("heading", { name: entry.heading, level: 1 }).waitFor();
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          await expect.poll(() => findLayoutFaults(page)).toEqual([]);
        }
        if (widths[2] === 1440) continue;
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await expect.poll(() => listAxeFindings(page)).toEqual([]);
        }
      }
      expect(complaints).toEqual([]);
      expect(foreignRequests).toEqual([]);
      await expect.poll(() => page.title()).toBe(`${entry.heading} · Sluice`);
    },
  );
});

describe.skipIf(!hasBrowser)("a site with an operator's branding", () => {
  const logo =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#6d28d9"/></svg>';
  const notice = "Maintenance on Sunday from 02:00 to 03:00 UTC.";

  test("shows name, logo, colour, links, terms and announcement on its pages and in its mails", {
    tags: "extended",
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-brand-"));
    writeFileSync(join(folder, "logo.svg"), logo);
    await using site = await startBrowsedSite({
      settings: {
        brand_name: "Acme <AI>",
        brand_logo_file: join(folder, "logo.svg"),
        brand_accent: "#6d28d9",
        support_contact: "help@example.com",
        terms_url: "https://example.com/terms",
        privacy_url: "https://example.com/privacy",
        announcement: notice,
        announcement_level: "warning",
        announcement_url: "https://example.com/news",
      },
    });
    rmSync(folder, { recursive: true });
    await using opened = await site.openPage();
    const { page, complaints, foreignRequests } = opened;
    const announcement = page.getByRole("region", { name: "Announcement" });
    const address = `${randomBytes(6).toString("hex")}@example.com`;

    /** Checks that apply to every page, in every theme and window. */
    const judge = async (heading: string): Promise<void> => {
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
      await expect.poll(() => page.title()).toBe(`${heading} · Acme <AI>`);
      await page.getByText("Acme <AI>", { exact: true }).first().waitFor();
      await page.getByRole("link", { name: "Support" }).first().waitFor({ state: "attached" });
      await expect.poll(() => page.evaluate("document.querySelector('header img').naturalWidth")).toBeGreaterThan(0);
      for (const [colorScheme, width] of [
        ["light", 1440],
        ["dark", 390],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        await expect.poll(() => listAxeFindings(page)).toEqual([]);
      }
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize({ width: 1440, height: 900 });
    };

    await page.goto("/");
    await announcement.getByText(notice).first().waitFor();
    await judge(await page.getByRole("heading", { level: 1 }).innerText());
    await page.getByRole("link", { name: "Sign up" }).first().waitFor();
    await expect
      .poll(() => page.evaluate("getComputedStyle(document.querySelector('a[href=\"/sign-up\"]')).backgroundColor"))
      .toBe("rgb(109, 40, 217)");

    await page.goto("/sign-up");
    await judge("Create an account");
    await page.getByRole("link", { name: "terms of service" }).waitFor();
    await page.getByLabel("E-mail address").fill(address);
    await page.getByLabel("Password", { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
    const { mail } = await readMail(visitSite(site.gateway), address);
    expect(mail?.text).toMatch(/\n\nAcme <AI>\nQuestions: help@example\.com\n$/);

    await signInByCookie(site, page, await site.createPerson());
    await page.goto(
      "/connect/browser-auth?client=cli&response_type=api_key&redirect_uri=http://127.0.0.1:9/callback&state=s",
    );
    await page.getByText("A program on this computer calls itself").first().waitFor();
    await judge(await page.getByRole("heading", { level: 1 }).innerText());
    await page.goto("/console/settings");
    await announcement.getByRole("button", { name: "Dismiss announcement" }).click();
    await announcement.waitFor({ state: "detached" });
    await page.reload();
    await judge("Settings");
    await expect.poll(() => announcement.count()).toBe(0);
    expect(complaints).toEqual([]);
    expect(foreignRequests).toEqual([]);
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

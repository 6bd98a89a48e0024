import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { presentTotp } from "../../src/features/site/sign-in/second-factor/totp.ts";
import {
  type BrowsedSite,
  forgetSession,
  listAxeFindings,
  signInByPage,
  startBrowsedSite,
} from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { goodPassword } from "../harness/site/site-visitor.ts";

const elevenMinutesMs = 11 * 60_000;
const totpStepMs = 30_000;
const base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

describe.skipIf(!hasBrowser)("the security page", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  function currentCode(secret: string): string {
    return presentTotp(decodeBase32(secret), Math.floor(site.clock.now().getTime() / totpStepMs));
  }

  test("an authenticator app needs reauthentication, is then required, and a backup code works once", {
    tags: "extended",
  }, async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await signInByPage(page, email, "/security");
    await page.getByRole("heading", { name: "Authenticator app" }).waitFor();
    site.clock.advance(elevenMinutesMs);

    await page.getByRole("button", { name: "Set up" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Password", { exact: true }).fill("not this one");
    await dialog.getByRole("button", { name: "Confirm" }).click();
    await dialog.locator("[aria-invalid=true]").waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await dialog.getByLabel("Password", { exact: true }).fill(goodPassword);
    await dialog.getByRole("button", { name: "Confirm" }).click();

    await page.getByRole("img", { name: "QR code" }).waitFor();
    const secret = (await page.locator("code").first().textContent()) ?? "";
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.getByLabel("Six-digit code").fill(currentCode(secret));
    const codes = page.getByRole("list", { name: "Backup codes" }).getByRole("listitem");
    await codes.first().waitFor();
    const [backupCode = ""] = await codes.allTextContents();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "Turn off" }).waitFor();

    await forgetSession(page);
    await signInByPage(page, email, "/security");
    site.clock.advance(totpStepMs);
    await page.getByLabel("Six-digit code").fill("000000");
    await page.getByLabel("Six-digit code").and(page.locator("[aria-invalid=true]")).waitFor();
    await page.getByLabel("Six-digit code").fill(currentCode(secret));
    await page.waitForURL(`${site.siteUrl}/console/settings`);

    await forgetSession(page);
    await signInByPage(page, email, "/security");
    await page.getByRole("tab", { name: "Backup code" }).click();
    await page.getByRole("textbox", { name: "Backup code" }).fill(backupCode);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`${site.siteUrl}/console/settings`);
    expect(opened.complaints).toEqual([]);
  });

  test("a cancelled reauthentication changes nothing", { tags: "extended" }, async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await signInByPage(page, email, "/security");
    await page.getByRole("heading", { name: "Authenticator app" }).waitFor();
    site.clock.advance(elevenMinutesMs);
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Nothing was changed").first().waitFor();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await expect.poll(() => page.getByRole("img", { name: "QR code" }).count()).toBe(0);
  });

  test("a passkey is added, signs its owner in, and is removed", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await signInByPage(page, email, "/security");
    await page.getByLabel("Name of a new passkey").fill("Laptop");
    await page.getByRole("button", { name: "Add passkey" }).click();
    const passkeys = page.getByRole("list", { name: "Passkeys" });
    await passkeys.getByText("Laptop").first().waitFor();
    await expect.poll(() => page.getByLabel("Name of a new passkey").inputValue()).toBe("");

    await forgetSession(page);
    await page.goto("/sign-in?next=/security");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.waitForURL(`${site.siteUrl}/console/settings`);
    await page.getByRole("button", { name: "Remove Laptop" }).click();
    await page.getByText("You have no passkey yet.").first().waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("another session is shown and can be ended from here", { tags: "extended" }, async () => {
    const email = await site.createPerson();
    await using elsewhere = await site.openPage({ userAgent: "Mozilla/5.0 (iPhone) Safari/605" });
    await signInByPage(elsewhere.page, email, "/security");
    await elsewhere.page.getByRole("heading", { name: "Sessions" }).waitFor();
    await using here = await site.openPage();
    await signInByPage(here.page, email, "/security");
    await here.page.getByRole("button", { name: "End the session of Safari on iOS" }).click();
    await here.page.getByText("Session ended.").first().waitFor();
    await elsewhere.page.waitForURL(/\/sign-in\?next=/);
  });

  test("a password change takes effect, and other sessions end", async () => {
    const email = await site.createPerson();
    await using elsewhere = await site.openPage();
    await signInByPage(elsewhere.page, email, "/security");
    await elsewhere.page.getByRole("heading", { name: "Sessions" }).waitFor();
    await using here = await site.openPage();
    const { page } = here;
    await signInByPage(page, email, "/security");
    await page.getByLabel("Current password", { exact: true }).fill("not this one");
    await page.getByLabel("New password", { exact: true }).fill("another good long one");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.locator("[name=current_password][aria-invalid=true]").waitFor();
    await expect
      .poll(() => page.getByLabel("New password", { exact: true }).inputValue())
      .toBe("another good long one");
    await page.getByLabel("Current password", { exact: true }).fill(goodPassword);
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("Password changed.").first().waitFor();
    await elsewhere.page.waitForURL(/\/sign-in\?next=/);
  });
});

function decodeBase32(text: string): Buffer {
  const bits = [...text.replaceAll(/[\s=]/g, "")].map((letter) => base32.indexOf(letter).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

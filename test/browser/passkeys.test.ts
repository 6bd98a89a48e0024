// @module-tag extended
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, forgetSession, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { approveByPage, presentEntry, startLoopbackProgram } from "../harness/site/loopback-program.ts";
import { signInByCookie } from "../harness/site/signed-in-page.ts";
import { readBase32, showTotp } from "../harness/site/totp-app.ts";

const elevenMinutesMs = 11 * 60_000;
const dayMs = 24 * 60 * 60_000;

type Authenticator = { devtools: CDPSession; authenticatorId: string };

/** A device that creates and presents passkeys, with user verification unless disabled. */
async function plugIn(page: Page, { knowsOwner = true } = {}): Promise<Authenticator> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: knowsOwner,
      automaticPresenceSimulation: true,
    },
  });
  return { devtools, authenticatorId };
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name of a new passkey").fill(name);
  await page.getByRole("button", { name: "Add passkey" }).click();
  await page.getByRole("list", { name: "Passkeys" }).getByText(name).first().waitFor();
}

async function signInByPasskey(page: Page): Promise<void> {
  await forgetSession(page);
  await page.goto("/sign-in?next=/security");
  await page.getByRole("button", { name: "Use a passkey" }).click();
}

describe.skipIf(!hasBrowser)("a passkey", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function openSecurity(page: Page, email: string): Promise<void> {
    await signInByCookie(site, page, email);
    await page.goto("/security");
  }

  test("replaces both factors, also for a person with an authenticator app", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await plugIn(page);
    await openSecurity(page, email);
    await addPasskey(page, "Laptop");
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByRole("img", { name: "QR code" }).waitFor();
    const secret = readBase32((await page.locator("code").first().textContent()) ?? "");
    await page.getByLabel("Six-digit code").fill(showTotp(secret, site.clock.now()));
    await page.getByRole("button", { name: "Done" }).click();
    await signInByPasskey(page);
    await page.waitForURL(`${site.siteUrl}/console/settings`);
    await page.getByRole("button", { name: "Turn off" }).waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("no longer signs in once it is removed, and the page shows it", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await plugIn(page);
    await openSecurity(page, email);
    await addPasskey(page, "Telephone");
    await page.getByRole("button", { name: "Remove Telephone" }).click();
    await page.getByText("You have no passkey yet.").first().waitFor();
    await signInByPasskey(page);
    await page.getByRole("alert").waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
    await page.goto("/security");
    await page.waitForURL(/\/sign-in\?next=/);
  });

  test("is rejected while its device does not verify the user", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    const { devtools, authenticatorId } = await plugIn(page);
    await openSecurity(page, email);
    await addPasskey(page, "Key ring");
    await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: false });
    await signInByPasskey(page);
    await page.getByRole("alert").waitFor();
    expect(new URL(page.url()).pathname).toBe("/sign-in");
    await devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified: true });
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.waitForURL(`${site.siteUrl}/console/settings`);
  });

  test("is not created twice on one device, and a device without one gets an error", async () => {
    const email = await site.createPerson();
    await using opened = await site.openPage();
    const { page } = opened;
    await plugIn(page);
    await page.goto("/sign-in");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("alert").waitFor();
    await openSecurity(page, email);
    await addPasskey(page, "Laptop");
    await page.getByLabel("Name of a new passkey").fill("Laptop again");
    await page.getByRole("button", { name: "Add passkey" }).click();
    await page.getByText("This device already has a passkey for your account.").first().waitFor();
    await expect.poll(() => page.getByLabel("Name of a new passkey").inputValue()).toBe("Laptop again");
    await expect.poll(() => page.getByRole("list", { name: "Passkeys" }).getByRole("listitem").count()).toBe(1);
  });

  test("of another person does not reauthenticate the signed-in person", async () => {
    const [owner, other] = [await site.createPerson(), await site.createPerson()];
    await using opened = await site.openPage();
    const { page } = opened;
    await plugIn(page);
    await openSecurity(page, other);
    await addPasskey(page, "Of the other");
    await forgetSession(page);
    await openSecurity(page, owner);
    await page.getByRole("heading", { name: "Passkeys" }).waitFor();
    site.clock.advance(elevenMinutesMs);
    // The owner's page offers no passkey, as they have none; an attacker may still send one.
    const status = await page.evaluate(`(async () => {
      const send = (path, body) => fetch("/console/api" + path, {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
      });
      const options = await (await send("/sign-in/passkey/options", {})).json();
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
      const passkey = (await navigator.credentials.get({ publicKey })).toJSON();
      return (await send("/reauthenticate", { passkey })).status;
    })()`);
    expect(status).toBe(401);
  });

  test("is accepted as reauthentication for a change or for a program's key", async () => {
    const email = await site.createPerson();
    await using program = await startLoopbackProgram();
    await using opened = await site.openPage();
    const { page } = opened;
    await plugIn(page);
    await openSecurity(page, email);
    await addPasskey(page, "Laptop");
    // A session this old needs reauthentication.
    site.clock.advance(dayMs);
    await page.goto(presentEntry(program.redirectUri));
    await approveByPage(page);
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("tab", { name: "Passkey" }).click();
    expect(program.callbacks).toEqual([]);
    await dialog.getByRole("button", { name: "Confirm" }).click();
    const { query } = await program.called();
    expect((await site.gateway.get("/models", query.get("api_key") ?? "")).status).toBe(200);
    expect(opened.complaints).toEqual([]);
  });
});

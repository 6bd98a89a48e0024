import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFreePort } from "../harness/gateway-process.ts";
import { type BrowsedSite, fillSignIn, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";

/** The contract promises 800 ms; browser clocks differ by a few. */
const armedMsMin = 780;

type Listener = AsyncDisposable & { redirectUri: string; delivered: Promise<URL> };

/** A local program that waits for its key, and closes the window that delivers it. */
async function listenForKey(): Promise<Listener> {
  const { promise, resolve } = Promise.withResolvers<URL>();
  const server = createServer((request, response) => {
    resolve(new URL(request.url ?? "/", "http://127.0.0.1"));
    response.setHeader("content-type", "text/html").end("<script>window.close()</script>Done.");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
    delivered: promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function presentEntry(redirectUri: string, client = "test-program"): string {
  const query = new URLSearchParams({ client, response_type: "api_key", redirect_uri: redirectUri, state: "s-1" });
  return `/connect/browser-auth?${query}`;
}

async function approve(page: Page): Promise<void> {
  await page.locator("button[type=submit][aria-disabled=false]", { hasText: "Approve" }).click();
}

const sites = [
  { where: "on this computer", options: {}, popupCount: 0, tags: [] },
  // The page tries a plain request first; the browser blocks it, and the window is the fallback. In every run,
  // `connect-delivery.test.ts` covers it.
  {
    where: "that only looks as if it were on this computer",
    options: { isPublic: true },
    popupCount: 1,
    tags: ["extended"],
  },
  {
    where: "on the internet",
    options: { isPublic: true, hostname: "sluice.test" },
    popupCount: 1,
    tags: ["extended"],
  },
];

for (const { where, options, popupCount, tags } of sites) {
  describe.skipIf(!hasBrowser)(`the consent page of a site ${where}`, { tags }, () => {
    let site: BrowsedSite;
    let email: string;
    beforeAll(async () => {
      site = await startBrowsedSite(options);
      email = await site.createPerson();
    });
    afterAll(() => site[Symbol.asyncDispose]());

    test("requires sign-in, names the program, and delivers the key without showing it in the address bar", async () => {
      await using listener = await listenForKey();
      await using opened = await site.openPage();
      const { page } = opened;
      const addresses: string[] = [];
      const popups: Page[] = [];
      page.context().on("page", (popup) => popups.push(popup));
      page.on("framenavigated", (frame) => addresses.push(frame.url()));
      await page.goto(presentEntry(listener.redirectUri));
      await page.waitForURL(/\/sign-in\?next=/);
      await fillSignIn(page, email);
      await page.getByText("A program on this computer calls itself").first().waitFor();
      await expect.poll(() => page.getByRole("main").textContent()).toContain("test-program");
      await expect.poll(() => page.getByRole("main").textContent()).toContain(new URL(listener.redirectUri).host);
      await expect.poll(() => listAxeFindings(page)).toEqual([]);

      await approve(page);
      const callback = await listener.delivered;
      const key = callback.searchParams.get("api_key") ?? "";
      expect(callback.searchParams.get("state")).toBe("s-1");
      const models = await site.gateway.get("/models", key);
      expect(models.status).toBe(200);
      await page.getByRole("heading", { name: "Connected" }).waitFor();
      expect(popups).toHaveLength(popupCount);
      expect([...addresses, page.url()].filter((address) => address.includes(key))).toEqual([]);
      expect(await page.evaluate("JSON.stringify([sessionStorage, localStorage])")).not.toContain(key);
      await page.goto("/security");
      await page.getByRole("list", { name: "Connected programs" }).getByText("test-program").first().waitFor();
    });

    test("offers the key for manual copy if the program does not listen", async () => {
      const port = await findFreePort();
      await using opened = await openSignedInPage(site, email);
      const { page } = opened;
      await page.goto(presentEntry(`http://127.0.0.1:${port}/callback`));
      await approve(page);
      const byHand = page.getByRole("button", { name: "Deliver in this tab" });
      await byHand.waitFor();
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
      const left = page.waitForRequest(
        (request) => request.isNavigationRequest() && request.url().includes(`:${port}/`),
      );
      await byHand.click();
      expect((await left).url()).toMatch(/\/callback\?api_key=sk-slc-.*&state=s-1$/);
    });

    test("a denial is sent to the program, and no key is created", async () => {
      await using listener = await listenForKey();
      await using opened = await openSignedInPage(site, email);
      const { page } = opened;
      await page.goto(presentEntry(listener.redirectUri, "refused-program"));
      await page.getByRole("button", { name: "Deny" }).click();
      expect((await listener.delivered).search).toBe("?error=access_denied&state=s-1");
      await page.getByRole("heading", { name: "Denied" }).waitFor();
    });
  });
}

describe.skipIf(!hasBrowser)("the consent page", () => {
  let site: BrowsedSite;
  let email: string;
  beforeAll(async () => {
    site = await startBrowsedSite();
    email = await site.createPerson();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test("cannot be approved by a click right when it appears", async () => {
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    // The page clicks its own button as soon as it exists, and records when the wait began and when the button was
    // enabled.
    await page.addInitScript(`const plain = window.setTimeout;
    window.setTimeout = (work, ms, ...more) => {
      if (ms === 800 && document.querySelector("button[type=submit]") !== null) window.beganMs ??= performance.now();
      return plain(work, ms, ...more);
    };
    new MutationObserver(() => {
      const button = document.querySelector("button[type=submit]");
      if (button === null) return;
      if (window.seenMs === undefined) {
        window.seenMs = performance.now();
        button.click();
      }
      if (button.ariaDisabled === "false") window.armedMs ??= performance.now();
    }).observe(document, { subtree: true, childList: true, attributes: true })`);
    await page.goto(presentEntry("http://127.0.0.1:9/callback"));
    await page.locator("button[type=submit][aria-disabled=false]").waitFor();
    expect(await page.evaluate("window.armedMs - window.beganMs")).toBeGreaterThan(armedMsMin);
    await page.getByRole("heading", { name: "Connect a program" }).waitFor();
    // Returning from another window restarts the wait.
    const isOffAfterBlur = page.evaluate(`new Promise((settle) => {
      const button = document.querySelector("button[type=submit]");
      new MutationObserver(() => settle(button.ariaDisabled)).observe(button, { attributes: true });
      window.dispatchEvent(new Event("blur"));
    })`);
    expect(await isOffAfterBlur).toBe("true");
  });

  test("an invalid limit is shown at its field, and the typed values stay", async () => {
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.goto(presentEntry("http://127.0.0.1:9/callback"));
    await page.getByText("Limits", { exact: true }).click();
    await page.getByLabel("Budget").fill("a lot");
    await approve(page);
    await page.getByLabel("Budget").and(page.locator("[aria-invalid=true]")).waitFor();
    await expect.poll(() => page.getByLabel("Budget").inputValue()).toBe("a lot");
  });

  test("a program's invalid request is shown, and the browser is not redirected", async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    const answer = await page.goto(presentEntry("https://evil.example/callback", "<script>alert(1)</script>"));
    expect(answer?.status()).toBe(400);
    await page.getByRole("heading", { name: "This link does not work" }).waitFor();
    await expect.poll(() => page.getByRole("main").textContent()).toContain("redirect_uri");
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });
});

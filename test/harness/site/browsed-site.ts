import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

import type { Browser, BrowserContextOptions, Page, Request, Route } from "playwright-core";
import { builds, isBuilt } from "../../../scripts/builds.mjs";
import { openAccount } from "../../../src/app/change-account.ts";
import { invariant } from "../../../src/lib/invariant.ts";
import { parseMoney } from "../../../src/lib/money.ts";
import type { Settings } from "../../../src/platform/config/load-settings.ts";
import { findFreePort } from "../gateway-process.ts";
import type { StripeServer } from "../servers/stripe-server.ts";
import { createRunningClock, createTestClock, type TestClock } from "../test-clock.ts";
import { startGateway, type TestGateway } from "../test-gateway.ts";
import { launchBrowser } from "./browser.ts";
import { hashPasswordCheaply } from "./cheap-password.ts";
import { contrastSample, markContrastSamples } from "./contrast-samples.ts";
import { shareBrowser } from "./shared-browser.ts";
import { goodPassword } from "./site-visitor.ts";

const patienceMs = 60_000;

/** The minified axe: the same rules, and less than half as long to parse on every page. */
const axeFile = new URL(import.meta.resolve("axe-core/axe.min.js"));
let axeSource: string | undefined;

/** The browser logs every answer of 400 and above; a refusal that a page shows is not an error of the page. */
const refusedRequest = /^Failed to load resource: the server responded with a status of 4\d\d/;

type BrowsedPage = AsyncDisposable & {
  page: Page;
  /** Browser errors: policy violations, script errors. */
  complaints: string[];
  /** Requests to any address other than the site's. */
  foreignRequests: string[];
};

export type BrowsedSite = AsyncDisposable & {
  gateway: TestGateway;
  clock: TestClock;
  siteUrl: string;
  openPage(options?: BrowserContextOptions): Promise<BrowsedPage>;
  /** A user with an account, the password `goodPassword` and this credit; returns the e-mail address. */
  createPerson(options?: { email?: string; credit?: string }): Promise<string>;
};

type BrowsedSiteOptions = {
  /** The browser treats the site as on the internet, although it runs locally: local programs are on another network. */
  isPublic?: boolean;
  /** A name that the browser resolves to this computer. */
  hostname?: string;
  /** The port of a proxy in front of the gateway that the browser uses. */
  frontPort?: number;
  /** Uses a running clock, which tasks need. */
  hasRunningClock?: boolean;
  settings?: Partial<Settings>;
  /** The Stripe server, if cards are enabled. */
  stripe?: Pick<StripeServer, "url" | "secretKey" | "webhookSecret">;
};

/** The built site of a real gateway, at its configured address, and a browser. */
export async function startBrowsedSite(options: BrowsedSiteOptions = {}): Promise<BrowsedSite> {
  if (!isBuilt(builds.web)) execFileSync(process.execPath, [builds.web.script], { stdio: "ignore" });
  const port = Number(await findFreePort());
  const { isPublic = false, hostname = "localhost", frontPort = port, hasRunningClock = false, stripe } = options;
  const siteUrl = `http://${hostname}:${frontPort}`;
  const clock = hasRunningClock ? createRunningClock() : createTestClock(new Date());
  const gateway = await startGateway({
    clock,
    settings: {
      ...{ port, host: "localhost", site_url: siteUrl, base_url: `${siteUrl}/v1` },
      ...(stripe === undefined
        ? {}
        : { stripe_secret_key: stripe.secretKey, stripe_webhook_secret: stripe.webhookSecret }),
      ...options.settings,
    },
    ...(stripe === undefined ? {} : { stripe: { url: stripe.url } }),
  });
  const switches = [
    ...(isPublic ? [`--ip-address-space-overrides=127.0.0.1:${port}=public,[::1]:${port}=public`] : []),
    ...(hostname === "localhost"
      ? []
      : [
          `--host-resolver-rules=MAP ${hostname} 127.0.0.1`,
          // Replaces the certificate that a site of this name would have.
          `--unsafely-treat-insecure-origin-as-secure=${siteUrl}`,
        ]),
  ];
  const isUsual = switches.length === 0;
  const browser = isUsual ? await shareBrowser() : await launchBrowser({ switches, isWhole: isPublic });
  const opened: BrowsedPage[] = [];
  return {
    gateway,
    clock,
    siteUrl,
    async openPage(options) {
      const page = await openPage(browser, siteUrl, options);
      opened.push(page);
      return page;
    },
    async createPerson({ email = `${randomBytes(6).toString("hex")}@example.com`, credit } = {}) {
      const person = { passwordHash: hashPasswordCheaply(goodPassword), isEmailVerified: true };
      await openAccount(gateway.parts, {
        email,
        person,
        ...(credit === undefined ? {} : { credit: describeCredit(credit) }),
      });
      return email;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((page) => page[Symbol.asyncDispose]()));
      if (!isUsual) await browser.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

function describeCredit(text: string) {
  const amount = parseMoney(text);
  invariant(amount !== null, `${text} is no amount`);
  return { booking: { kind: "top-up" as const, amount }, actor: "test", reason: "a test spends it", reference: null };
}

/** Opens a page and waits until it is complete. The console's event stream never ends, so its network is never idle. */
export async function openSettled(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.locator("h1").first().waitFor();
  await page.locator(".animate-pulse:visible, [aria-busy=true]:visible").first().waitFor({ state: "detached" });
}

/** Deletes a page's session after leaving the page: without a session it would redirect to the sign-in. */
export async function forgetSession(page: Page): Promise<void> {
  await page.goto("about:blank");
  await page.context().clearCookies();
}

/**
 * Deletes a page's session while the page sends its next change. Between the two, a query of the page itself could lead
 * to the sign-in, and the button that a test is about to press would be gone.
 */
export async function expireSessionAtNextChange(page: Page): Promise<void> {
  const isChange = (request: Request): boolean => request.method() !== "GET";
  const expire = async (route: Route): Promise<void> => {
    if (isChange(route.request())) await page.context().clearCookies();
    await route.continue();
    if (isChange(route.request())) await page.unroute("**", expire);
  };
  await page.route("**", expire);
}

/** Signs in through the page, and continues to the given path. */
export async function signInByPage(page: Page, email: string, path: string): Promise<void> {
  await page.goto(`/sign-in?next=${encodeURIComponent(path)}`);
  await fillSignIn(page, email);
}

export async function fillSignIn(page: Page, email: string): Promise<void> {
  await waitForProgram(page);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(goodPassword);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function openPage(browser: Browser, siteUrl: string, options: BrowserContextOptions = {}): Promise<BrowsedPage> {
  // Disable transitions: axe must not judge colours halfway through one.
  const context = await browser.newContext({ baseURL: siteUrl, reducedMotion: "reduce", ...options });
  // As generous as every time limit of the tests.
  context.setDefaultTimeout(patienceMs);
  if (options.javaScriptEnabled !== false) context.on("page", waitForPrograms);
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreignRequests: string[] = [];
  page.on("console", (message) => {
    const isTrouble = message.type() === "error" || message.type() === "warning";
    if (isTrouble && !refusedRequest.test(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const isOwn = request.url().startsWith(`${siteUrl}/`) || request.url().startsWith("data:");
    if (!isOwn) foreignRequests.push(request.url());
  });
  return { page, complaints, foreignRequests, [Symbol.asyncDispose]: () => context.close() };
}

/**
 * A page is rendered on the server before its script is loaded: keys pressed until then are lost, and filled fields are
 * replaced by empty ones.
 */
function waitForProgram(page: Page): Promise<void> {
  return page.locator("#site > [inert]").waitFor({ state: "detached" });
}

/** For every navigation of a test. */
function waitForPrograms(page: Page): void {
  const { goto, reload, waitForURL } = page;
  page.goto = async (...given) => {
    const answer = await goto.apply(page, given);
    await waitForProgram(page);
    return answer;
  };
  page.reload = async (...given) => {
    const answer = await reload.apply(page, given);
    await waitForProgram(page);
    return answer;
  };
  page.waitForURL = async (...given) => {
    await waitForURL.apply(page, given);
    await waitForProgram(page);
  };
}

type AxeResults = { violations: { id: string; impact: string | null; nodes: { target: string[] }[] }[] };

/** The rules whose findings depend on colours. */
const colourRules = ["color-contrast", "link-in-text-block"];

/**
 * axe's findings as sentences: every rule that the current page violates. In another colour scheme, a page of the same
 * elements and width can only violate other rules about colours.
 */
export async function listAxeFindings(page: Page): Promise<string[]> {
  // Once per page: it is more script than the page's own.
  axeSource ??= readFileSync(axeFile, "utf8");
  if ((await page.evaluate("typeof axe")) === "undefined") {
    await page.evaluate(axeSource);
    await page.evaluate(`axe.configure({ rules: [{ id: "color-contrast", selector: "[${contrastSample}]" }] })`);
  }
  // As text, because the test's types do not include the page's.
  const results = (await page.evaluate(`(async () => {
    const judged = [innerWidth, scrollY, document.documentElement.outerHTML].join();
    const runOnly = axe.judgedBefore === judged ? { runOnly: ${JSON.stringify(colourRules)} } : {};
    ${markContrastSamples};
    const results = await axe.run(document, { resultTypes: ["violations"], ...runOnly });
    for (const sample of document.querySelectorAll("[${contrastSample}]")) sample.removeAttribute("${contrastSample}");
    axe.judgedBefore = results.violations.length === 0 ? judged : "";
    return results;
  })()`)) as AxeResults;
  return results.violations.map(
    ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
  );
}

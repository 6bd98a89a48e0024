import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RecordedRequest } from "../harness/servers/recording-server.ts";
import { startWebhookReceiver, verifyDelivery } from "../harness/servers/webhook-receiver.ts";
import { type BrowsedSite, listAxeFindings, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { signInByCookie } from "../harness/site/signed-in-page.ts";
import { goodPassword } from "../harness/site/site-visitor.ts";

const pythonPath = "/usr/bin/python3";
const elevenMinutesMs = 11 * 60_000;

describe.skipIf(!hasBrowser)("the webhook pages", () => {
  let site: BrowsedSite;
  beforeAll(async () => {
    site = await startBrowsedSite({ hasRunningClock: true });
  });
  afterAll(() => site[Symbol.asyncDispose]());

  /** The page of a new person who has just signed in. */
  async function openWebhooks(width = 1440) {
    const email = await site.createPerson();
    const opened = await site.openPage({ viewport: { width, height: 900 }, reducedMotion: "reduce" });
    await signInByCookie(site, opened.page, email);
    await opened.page.goto("/console/webhooks");
    await opened.page.getByRole("heading", { name: "Webhooks", level: 1 }).waitFor();
    return opened;
  }

  /** Waits for a secret to be shown, and returns it. */
  async function keepSecret(page: Page): Promise<string> {
    const text = await page.getByRole("region", { name: "Signing secret" }).locator("code").textContent();
    expect(text).toMatch(/^whsec_/);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    return text ?? "";
  }

  async function addEndpoint(page: Page, url: string): Promise<string> {
    await page.getByRole("button", { name: "Create endpoint" }).first().click();
    await page.getByLabel("URL", { exact: true }).fill(url);
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const secret = await keepSecret(page);
    await page.getByRole("heading", { name: "Webhook endpoint", level: 1 }).waitFor();
    return secret;
  }

  const now = () => site.clock.now();
  const signaturesOf = ({ headers }: RecordedRequest) => String(headers["webhook-signature"]).split(" ");

  test("an endpoint receives a signed test event, again on request, and twice signed after a rotation", async () => {
    await using receiver = await startWebhookReceiver();
    await using opened = await openWebhooks();
    const { page } = opened;
    const secret = await addEndpoint(page, `${receiver.url}hook`);
    await page.getByText("No deliveries yet").first().waitFor();
    await page.getByRole("button", { name: "Send test event" }).click();
    await page.getByText("Test event delivered").first().waitFor();
    await page
      .getByText(/returned 200 after \d+ ms/)
      .first()
      .waitFor();
    const [first] = await receiver.waitForDeliveries(1);
    if (first === undefined) throw new Error("nothing arrived");
    expect(verifyDelivery(first, secret, now())).toMatchObject({ type: "webhook.test" });

    const log = page.getByRole("list", { name: "Deliveries" });
    await log.getByText("Delivered").first().waitFor();
    await log.locator("summary").first().click();
    await log.getByRole("button", { name: "Resend" }).click();
    const [, again] = await receiver.waitForDeliveries(2);
    expect(again?.headers["webhook-id"]).toBe(first.headers["webhook-id"]);
    await log.getByText("Delivered").nth(1).waitFor();

    await page.getByRole("button", { name: "Rotate secret" }).click();
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    await page.getByText("also signed with the previous secret").first().waitFor();
    const newSecret = await keepSecret(page);
    expect(newSecret).not.toBe(secret);
    await page
      .getByText(/valid until/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Send test event" }).click();
    const third = (await receiver.waitForDeliveries(3))[2];
    if (third === undefined) throw new Error("nothing arrived");
    expect(signaturesOf(third)).toHaveLength(2);
    verifyDelivery(third, secret, now());
    verifyDelivery(third, newSecret, now());

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Delete endpoint" }).click();
    await page.getByText("No endpoints yet").first().waitFor();
    await page.getByRole("list", { name: "Recent events" }).getByText("webhook.test").first().waitFor();
    expect(receiver.deliveries).toHaveLength(3);
    expect(opened.complaints).toEqual([]);
    expect(opened.foreignRequests).toEqual([]);
  });

  test("the page's sample code accepts signed events only", async () => {
    await using receiver = await startWebhookReceiver();
    await using opened = await openWebhooks();
    const { page } = opened;
    const samples = page.getByRole("tabpanel");
    const node = (await samples.locator("code").textContent()) ?? "";
    await page.getByRole("tab", { name: "Python" }).click();
    const python = (await samples.locator("code").textContent()) ?? "";
    const secret = await addEndpoint(page, receiver.url);
    await page.getByRole("button", { name: "Send test event" }).click();
    const [request] = await receiver.waitForDeliveries(1);
    if (request === undefined) throw new Error("nothing arrived");
    const body = request.body.toString();
    const runs = [runNodeSample(node), ...(existsSync(pythonPath) ? [runPythonSample(python)] : [])];
    for (const run of runs) {
      expect(await run(body, request.headers, secret)).toMatchObject({ type: "webhook.test" });
      await expect(run(`${body} `, request.headers, secret)).rejects.toThrow(/signature does not match/);
      await expect(run(body, { ...request.headers, "webhook-timestamp": "1" }, secret)).rejects.toThrow(/too old/);
      const twice = { ...request.headers, "webhook-signature": `v1,AAAA ${request.headers["webhook-signature"]}` };
      expect(await run(body, twice, secret)).toMatchObject({ type: "webhook.test" });
    }
  });

  test("a failing endpoint is shown with its response; once disabled, it receives no events", {
    tags: "extended",
  }, async () => {
    await using receiver = await startWebhookReceiver((_request, response) => {
      response.writeHead(500).end("the database is down");
    });
    await using opened = await openWebhooks();
    const { page } = opened;
    await addEndpoint(page, receiver.url);
    await page.getByRole("button", { name: "Send test event" }).click();
    await page.getByText("Test event not delivered").first().waitFor();
    const log = page.getByRole("list", { name: "Deliveries" });
    await log.locator("summary").first().click();
    await log.getByText("Attempt 1: returned 500").first().waitFor();
    await log.getByText("the database is down").first().waitFor();
    await log.getByText("Next attempt").first().waitFor();
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("Endpoint disabled").first().waitFor();
    await log.getByText("Dropped").first().waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Send test event" }).count()).toBe(0);
    await log.getByRole("button", { name: "Resend" }).click();
    await page.getByRole("alert").getByText("Enable it first").first().waitFor();
    await page.getByLabel("Status").selectOption({ label: "Delivered" });
    await page.getByText("No deliveries match.").first().waitFor();
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByRole("button", { name: "Send test event" }).waitFor();
    await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("region", { name: "Webhook endpoints" }).getByText("Enabled").first().waitFor();
    expect(opened.complaints).toEqual([]);
  });

  test("an invalid URL is an error at the field, the ticked types are subscribed, and a change is saved", {
    tags: "extended",
  }, async () => {
    await using opened = await openWebhooks();
    const { page } = opened;
    await page.getByRole("button", { name: "Create endpoint" }).first().click();
    await page.getByLabel("URL", { exact: true }).fill("example.com/hook");
    await page.getByLabel("All events, including future types").uncheck();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Choose at least one event").first().waitFor();
    await page.getByLabel("task.failed").check();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.locator("[name=url][aria-invalid=true]").waitFor();
    await expect.poll(() => listAxeFindings(page)).toEqual([]);
    await page.getByLabel("URL", { exact: true }).fill("https://example.com/hook");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await keepSecret(page);
    await page.getByText("task.failed").first().waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Description").fill("For the night");
    await page.getByLabel("task.expired").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("task.failed, task.expired").first().waitFor();
    await page.getByText("For the night").first().waitFor();
    await page.goto("/console/webhooks/whe_none");
    await page.getByText("Your account has no such endpoint.").first().waitFor();
  });

  test("the account's secret is shown after reauthentication, and rotated", { tags: "extended" }, async () => {
    await using opened = await openWebhooks();
    const { page } = opened;
    site.clock.advance(elevenMinutesMs);
    await page.getByRole("button", { name: "Show secret" }).click();
    const proof = page.getByRole("dialog", { name: "Confirm your password to continue" });
    await proof.waitFor();
    // The samples contain the word secret too, but no value with its form.
    await expect.poll(() => page.getByText(/whsec_[A-Za-z0-9+/=]{16}/).count()).toBe(0);
    await proof.getByLabel("Password", { exact: true }).fill(goodPassword);
    await proof.getByRole("button", { name: "Confirm" }).click();
    const secret = await keepSecret(page);
    await page.getByRole("button", { name: "Rotate secret" }).click();
    await page.getByRole("button", { name: "Rotate", exact: true }).click();
    expect(await keepSecret(page)).not.toBe(secret);
    expect(await page.content()).not.toContain(secret);
  });

  test("the inbox is opened and closed by keyboard, in a narrow window, and axe finds nothing", {
    tags: "extended",
  }, async () => {
    await using receiver = await startWebhookReceiver();
    await using opened = await openWebhooks(390);
    const { page } = opened;
    await page.getByRole("button", { name: "Open inbox" }).press("Enter");
    await page.getByRole("button", { name: "Close inbox" }).press("Enter");
    await page.getByRole("button", { name: "Open inbox" }).waitFor();
    await addEndpoint(page, `${receiver.url}${"long/".repeat(30)}`);
    await page.getByRole("button", { name: "Send test event" }).press("Enter");
    await page.getByText("Test event delivered").first().waitFor();
    const sideways = "document.documentElement.scrollWidth - innerWidth";
    await expect.poll(() => page.evaluate(sideways)).toBeLessThanOrEqual(0);
    await page.getByRole("list", { name: "Deliveries" }).locator("summary").first().press("Enter");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
    await page.goto("/console/webhooks");
    await page.getByRole("list", { name: "Recent events" }).locator("summary").press("Enter");
    await page.getByRole("list", { name: "Attempts" }).waitFor();
    await expect.poll(() => page.evaluate(sideways)).toBeLessThanOrEqual(0);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await expect.poll(() => listAxeFindings(page)).toEqual([]);
    }
  });
});

type Sample = (body: string, headers: Record<string, unknown>, secret: string) => Promise<unknown>;

/** The sample code as a developer pastes it into a file. */
function runNodeSample(code: string): Sample {
  return async (...given) => {
    const path = join(tmpdir(), `sluice-sample-${crypto.randomUUID()}.mjs`);
    await writeFile(path, `${code}\nconsole.log(JSON.stringify(readEvent(...${JSON.stringify(given)})));\n`);
    try {
      return JSON.parse(execFileSync(process.execPath, [path], { encoding: "utf8", stdio: "pipe" }));
    } finally {
      await rm(path);
    }
  };
}

function runPythonSample(code: string): Sample {
  return async (body, headers, secret) => {
    const call = `import sys\nbody, headers, secret = json.loads(sys.argv[1])\nprint(json.dumps(read_event(body.encode(), headers, secret)))`;
    const given = JSON.stringify([body, headers, secret]);
    const text = execFileSync(pythonPath, ["-c", `${code}\n${call}`, given], { encoding: "utf8", stdio: "pipe" });
    return JSON.parse(text);
  };
}

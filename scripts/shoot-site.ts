// Takes the docs' screenshots of the site, from a temporary gateway with a newly signed-up user.
// Run it after a visual change of the pages: node scripts/shoot-site.ts
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { findFreePort } from "../test/harness/gateway-process.ts";
import { launchBrowser } from "../test/harness/site/browser.ts";
import { approveByPage, presentEntry, startLoopbackProgram } from "../test/harness/site/loopback-program.ts";
import { shootPage } from "./shoot-page.ts";
import { startOwnGateway } from "./start-own-gateway.ts";

const viewport = { width: 1440, height: 900 };
const email = "ada@example.com";
const client = "my-terminal";

execFileSync(process.execPath, [join(import.meta.dirname, "build-web.ts")], { stdio: "inherit" });
const dataDir = await mkdtemp(join(tmpdir(), "shoot-site-"));
const port = Number(await findFreePort());
const siteUrl = `http://localhost:${port}`;
const gateway = await startOwnGateway({
  data_dir: dataDir,
  port,
  host: "localhost",
  site_url: siteUrl,
  base_url: `${siteUrl}/v1`,
});
const browser = await launchBrowser();
const program = await startLoopbackProgram();

try {
  const page = await browser.newPage({ baseURL: siteUrl, viewport, colorScheme: "light" });
  await page.goto("/sign-in");
  await page.getByLabel("E-mail address").fill(email);
  await shootPage(page, "site-sign-in.png");

  await signUp(page);
  await page.goto(presentEntry(program.redirectUri, { client }));
  await page.locator("button[type=submit][aria-disabled=false]").waitFor();
  await shootPage(page, "site-consent.png");

  await approveByPage(page);
  await program.called();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/console/settings");
  await page.getByRole("list", { name: "Connected programs" }).getByText(client).waitFor();
  await shootPage(page, "site-security.png");
} finally {
  await program[Symbol.asyncDispose]();
  await browser.close();
  await gateway.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function signUp(page: Page): Promise<void> {
  await page.goto("/sign-up");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(randomBytes(16).toString("hex"));
  await page.getByRole("button", { name: "Create account" }).click();
  // Wait for the response: it sets the cookie that identifies this browser.
  await page.getByRole("heading", { name: "Check your e-mail" }).waitFor();
  await page.goto(gateway.outboxUrl ?? "");
  await page.getByRole("region").filter({ hasText: email }).getByRole("link").first().click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
}

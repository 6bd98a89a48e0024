import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type BrowsedSite, fillSignIn, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { approveByPage } from "../harness/site/loopback-program.ts";
import { buildUsersCli, openUsersCli, type UsersCli } from "../harness/users-cli/users-cli.ts";
import { waitUntil } from "../harness/wait-until.ts";

describe.skipIf(!hasBrowser)("the users' command line, with a real browser", () => {
  let site: BrowsedSite;
  let email: string;
  let build: ReturnType<typeof buildUsersCli>;
  let cli: UsersCli;
  beforeAll(async () => {
    build = buildUsersCli();
    site = await startBrowsedSite({ isPublic: true });
    email = await site.createPerson();
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    build[Symbol.dispose]();
  });
  beforeEach(() => {
    cli = openUsersCli(build.program);
  });
  afterEach(() => {
    expect(cli.seen()).not.toMatch(/sk-slc-\w{36}/);
    cli[Symbol.dispose]();
  });

  /** Records the URLs that the machine is asked to open. */
  function replaceOpener(): () => Promise<string> {
    const opener = join(cli.home, "bin/xdg-open");
    const noted = join(cli.home, "opened");
    mkdirSync(join(cli.home, "bin"));
    writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > ${noted}.part && mv ${noted}.part ${noted}\n`);
    chmodSync(opener, 0o755);
    return () => waitUntil("the browser to be opened", () => existsSync(noted) && readFileSync(noted, "utf8"));
  }

  async function checkSignedIn(): Promise<void> {
    expect(statSync(cli.credentialsFile).mode & 0o777).toBe(0o600);
    const known = await cli.run(["whoami", "--json"]);
    expect([known.exitCode, known.stdout]).toEqual([0, expect.stringContaining(site.siteUrl)]);
    expect((await cli.run(["logout"])).exitCode).toBe(0);
    expect((await cli.run(["whoami"])).exitCode).not.toBe(0);
    expect(readFileSync(cli.credentialsFile, "utf8")).not.toContain("sk-slc-");
  }

  test("login opens the browser for sign-in and approval; the key is stored, used and deleted", async () => {
    const readOpened = replaceOpener();
    const running = cli.start(["login", "--site", site.siteUrl, "--client", "laptop"]);
    const entry = await readOpened();
    await using opened = await site.openPage();
    const { page } = opened;
    const asked: string[] = [];
    page.context().on("request", (request) => asked.push(request.url()));
    await page.goto(entry);
    await fillSignIn(page, email);
    await page.getByText("A program on this computer calls itself").first().waitFor();
    await expect.poll(() => page.getByRole("main").textContent()).toContain("laptop");
    await approveByPage(page);
    expect((await running.ended).exitCode).toBe(0);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    expect(asked.join("\n")).toMatch(/\/callback\?code=/);
    expect(asked.join("\n")).not.toContain("sk-slc-");
    await checkSignedIn();
  });

  test("a denial in the browser ends the login, and nothing is stored", { tags: "extended" }, async () => {
    const readOpened = replaceOpener();
    const running = cli.start(["login", "--site", site.siteUrl, "--client", "laptop-2"]);
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto(await readOpened());
    await fillSignIn(page, email);
    await page.getByRole("button", { name: "Deny" }).click();
    expect(await running.ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("denied") });
    expect(existsSync(cli.credentialsFile)).toBe(false);
  });

  test("login --device shows a code that the person types on another machine", async () => {
    const running = cli.start(["login", "--device", "--site", site.siteUrl, "--client", "server"]);
    const [, code = ""] = await running.sees(/and enter {2}(\S+)/);
    const [address] = await running.sees(/http\S+\/connect\/device/);
    await using opened = await site.openPage();
    const { page } = opened;
    await page.goto(address);
    await fillSignIn(page, email);
    await page.getByLabel("Code").fill(code);
    await page.getByRole("button", { name: "Continue" }).click();
    await approveByPage(page);
    expect((await running.ended).exitCode).toBe(0);
    await page.getByRole("heading", { name: "Connected" }).waitFor();
    await checkSignedIn();
  });
});

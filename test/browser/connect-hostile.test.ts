import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BrowsedSite, startBrowsedSite } from "../harness/site/browsed-site.ts";
import { hasBrowser } from "../harness/site/browser.ts";
import { beginRequest, writeEntry } from "../harness/site/connect-program.ts";
import { openSignedInPage } from "../harness/site/signed-in-page.ts";

const minuteMs = 60_000;
/** The number of authorizations that one network may start in a minute. */
const entriesMax = 60;

/**
 * A page of another party. On another host than the site's `localhost` it is cross-site and gets no cookies; on another
 * port of the same host it is only cross-origin and gets all of them.
 */
async function serveForeignPage(
  html: string,
  host: "127.0.0.1" | "localhost" = "127.0.0.1",
): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end(`<!doctype html><title>Elsewhere</title>${html}`);
  });
  await new Promise<void>((listening) => void server.listen(0, host, listening));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const good = "http://127.0.0.1:53111/callback";

describe.skipIf(!hasBrowser)("a hostile page or program", () => {
  let site: BrowsedSite;
  let email: string;
  beforeAll(async () => {
    site = await startBrowsedSite();
    email = await site.createPerson();
  });
  afterAll(() => site[Symbol.asyncDispose]());

  test.for([
    {
      param: "redirect_uri",
      values: [
        "https://evil.example/callback",
        "http://evil.example:80/callback",
        "https://127.0.0.1:53111/callback",
        "http://127.0.0.1/callback",
        "http://127.0.0.1:53111/",
        "http://127.0.0.1:53111/callback/../x",
        `${good}?next=https://evil.example`,
        `${good}#api_key`,
        "http://127.0.0.1:53111@evil.example/callback",
        "http://evil.example\\@127.0.0.1:53111/callback",
        "http://127.0.0.1.evil.example:53111/callback",
        "http://[::1]:53111/callback",
        "http://0.0.0.0:53111/callback",
        "http://2130706433:53111/callback",
        "http://127.0.0.1:99999/callback",
        "//127.0.0.1:53111/callback",
        "javascript:alert(1)//127.0.0.1:53111/callback",
        "data:text/html,<script>alert(1)</script>",
        `${good}\r\nset-cookie: a=b`,
        "",
      ],
    },
    { param: "client", values: ["x", "a".repeat(65), "a b", "<img src=x onerror=alert(1)>", "ä-tool", "BA:tool", ""] },
    { param: "response_type", values: ["token", "code", "API_KEY", ""] },
    { param: "state", values: ["", "s".repeat(1025)] },
    { param: "code_challenge", values: ["short", "!".repeat(43)] },
  ])(
    "that sends a bad $param gets an error page, and the browser is not redirected",
    { tags: "extended" },
    ({ param, values }) => expectErrorPages(values.map((value) => [param, value])),
  );

  test("that sends a bad request gets an error page, and the browser is not redirected", () =>
    expectErrorPages([
      ["redirect_uri", "http://evil.example\\@127.0.0.1:53111/callback"],
      ["redirect_uri", "javascript:alert(1)//127.0.0.1:53111/callback"],
      ["client", "<img src=x onerror=alert(1)>"],
      ["state", ""],
    ]));

  async function expectErrorPages(cases: readonly (readonly [param: string, value: string])[]): Promise<void> {
    await using opened = await openSignedInPage(site, email);
    const { page, foreignRequests } = opened;
    page.on("dialog", (dialog) => foreignRequests.push(`a dialog: ${dialog.message()}`));
    for (const [param, value] of cases) {
      const query = writeEntry({
        [param]: value,
        ...(param === "code_challenge" && { code_challenge_method: "S256" }),
      });
      const answer = await page.goto(`/connect/browser-auth?${query}`);
      expect([value, answer?.status(), answer?.headers().location]).toEqual([value, 400, undefined]);
      await page.getByRole("heading", { name: "This link does not work" }).waitFor();
      await expect.poll(() => page.getByRole("main").locator("li code").allTextContents()).toEqual([param]);
      expect(page.url().startsWith(`${site.siteUrl}/connect/browser-auth?`)).toBe(true);
      expect(page.context().pages()).toHaveLength(1);
    }
    expect(foreignRequests).toEqual([]);
    expect(opened.complaints).toEqual([]);
  }

  test("that omits a parameter, or sends one twice, gets an error that names it", async () => {
    await using opened = await openSignedInPage(site, email);
    const { page, foreignRequests } = opened;
    const named = async (query: string) => {
      const answer = await page.goto(`/connect/browser-auth?${query}`);
      expect(answer?.status()).toBe(400);
      await page.getByRole("heading", { name: "This link does not work" }).waitFor();
      return await page.getByRole("main").locator("li code").allTextContents();
    };
    expect(await named("")).toEqual(["client", "response_type", "redirect_uri", "state"]);
    expect(await named(`${writeEntry()}&redirect_uri=https%3A%2F%2Fevil.example%2F`)).toEqual(["redirect_uri"]);
    expect(await named(`${writeEntry()}&code_challenge_method=plain`)).toEqual([
      "code_challenge",
      "code_challenge_method",
    ]);
    expect(foreignRequests).toEqual([]);
  });

  test("cannot put any page of the site into a frame", async () => {
    const consent = `/connect/requests/${await beginRequest(site)}`;
    const paths = [consent, `/connect/browser-auth?${writeEntry()}`, "/connect/device", "/security", "/sign-in"];
    const frames = paths.map((path) => `<iframe src="${site.siteUrl}${path}"></iframe>`).join("");
    await using elsewhere = await serveForeignPage(frames);
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    const refusals: string[] = [];
    page.on("console", (message) => message.text().includes("frame-ancestors") && refusals.push(message.text()));
    await page.goto(elsewhere.url);
    const inside = page.frames().filter((frame) => frame !== page.mainFrame());
    expect(inside).toHaveLength(paths.length);
    for (const frame of inside) {
      await expect.poll(() => frame.locator("button").count()).toBe(0);
      expect(await frame.content()).not.toContain('id="site"');
    }
    expect(refusals.length).toBeGreaterThanOrEqual(paths.length);
  });

  test("cannot approve with a cross-site request or form while the person is signed in", async () => {
    const id = await beginRequest(site);
    const approve = `${site.siteUrl}/console/api/connect/requests/${id}/approve`;
    const form = `<form method="post" enctype="text/plain" action="${approve}"><input name='{"a":"' value='"}'><button>Go</button></form>`;
    await using elsewhere = await serveForeignPage(form, "localhost");
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    // The request belongs to the person, as if they had opened its page.
    await page.goto(`/connect/requests/${id}`);
    await page.getByRole("heading", { name: "Connect a program" }).waitFor();
    await page.goto(elsewhere.url);
    // The browser hides the responses from the page, but does not block every request.
    await page.evaluate(`Promise.allSettled([
      { headers: { "content-type": "application/json" } },
      { headers: { "content-type": "text/plain" } },
      { mode: "no-cors" },
    ].map((kind) => fetch("${approve}", { method: "POST", credentials: "include", body: "{}", ...kind })))`);
    const posted = page.waitForResponse(approve);
    await page.getByRole("button", { name: "Go" }).click();
    expect((await posted).status()).toBe(403);
    await page.goto(`/connect/requests/${id}`);
    await page.getByRole("heading", { name: "Connect a program" }).waitFor();
    await page.goto("/security");
    await page.getByText("No program is connected.").first().waitFor();
  });

  test("has no reference to a consent page that it opened in a window", { tags: "extended" }, async () => {
    const path = `/connect/requests/${await beginRequest(site)}`;
    await using elsewhere = await serveForeignPage(
      "<button onclick='window.opened = window.open(window.target)'>Open</button>",
    );
    await using opened = await openSignedInPage(site, email);
    const { page } = opened;
    await page.goto(elsewhere.url);
    await page.evaluate(`window.target = "${site.siteUrl}${path}"`);
    const appeared = page.context().waitForEvent("page");
    await page.getByRole("button", { name: "Open" }).click();
    const consent = await appeared;
    await consent.getByRole("heading", { name: "Connect a program" }).waitFor();
    expect(await consent.evaluate("window.opener")).toBeNull();
    await expect.poll(() => page.evaluate("window.opened.closed")).toBe(true);
  });

  test("that starts too many requests gets a page with the time to wait", { tags: "extended" }, async () => {
    await using opened = await site.openPage();
    const { page } = opened;
    const entry = `/connect/browser-auth?${writeEntry()}`;
    await page.goto("/sign-in");
    await page.evaluate(
      `Promise.all(Array.from({ length: ${entriesMax} }, () => fetch("${entry}", { redirect: "manual" })))`,
    );
    const answer = await page.goto(entry);
    expect([answer?.status(), Number(answer?.headers()["retry-after"])]).toEqual([429, expect.any(Number)]);
    await page.getByRole("heading", { name: "Wait a moment" }).waitFor();
    site.clock.advance(minuteMs);
    expect((await page.goto(entry))?.status()).toBe(200);
  });
});

import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSiteShell } from "../../src/features/site/serve-site.ts";
import { readSiteFiles, type SiteFiles } from "../../src/features/site/site-files.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { invariant } from "../../src/lib/invariant.ts";
import { createHttpServer, type HttpServer } from "../../src/platform/http/create-http-server.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";

const program = "console.log('a program that is long enough to be compressed');\n".repeat(40);
const shell =
  '<!doctype html><html data-theme="system"><head><title>Sluice</title></head><body><div id="site"></div></body></html>';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "sluice-site-"));
  mkdirSync(join(directory, "assets"));
  writeFileSync(join(directory, "index.html"), shell);
  const path = join(directory, "assets/index-abc.js");
  writeFileSync(path, program);
  writeFileSync(`${path}.br`, brotliCompressSync(program));
  writeFileSync(`${path}.gz`, gzipSync(program));
});
afterEach(() => rmSync(directory, { recursive: true }));

type ShellOptions = {
  siteUrl?: string;
  signUp?: "open" | "invite" | "closed";
  pageData?: unknown;
  getFiles?: () => SiteFiles;
};

async function serve({ siteUrl = "http://localhost:4242", signUp = "open", pageData, getFiles }: ShellOptions = {}) {
  return await createHttpServer({
    clock: systemClock,
    ids: createIdSource({ clock: systemClock, randomBytes }),
    logger: createLogger({ level: "error", format: "json", write: () => {} }),
    limits: {
      bodyBytesMax: 1_000,
      json: { structureMax: 1000, escapesMax: 1000 },
      headerBytesMax: 16_384,
      headerTimeoutMs: 1_000,
      requestTimeoutMs: 1_000,
    },
    trustedProxies: [],
    async addRoutes(http) {
      const files = readSiteFiles(directory);
      const site = createSiteShell({ readStatus: null, siteUrl, signUp, getFiles: getFiles ?? (() => files) });
      site.addRoutes(http);
      http.get("/test/page", (_request, reply) => site.sendShell(reply, { status: 400, data: pageData }));
    },
  });
}

async function get(http: HttpServer, url: string, headers: Record<string, string> = {}) {
  return await http.inject({ url, headers: { accept: "text/html", ...headers } });
}

describe("pages", () => {
  test("load only this site's own files, and can be neither framed, cached nor tracked by referrer", async () => {
    const { headers, statusCode } = await get(await serve(), "/sign-in");
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      "cache-control": "no-store",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "permissions-policy": expect.stringContaining("loopback-network=()"),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    expect(headers["strict-transport-security"]).toBeUndefined();
  });

  test("of the connect flow may reach a program on the reader's computer", async () => {
    const { headers } = await get(await serve(), "/connect/requests/abc");
    expect(headers["content-security-policy"]).toContain("connect-src 'self' http://127.0.0.1:* http://localhost:*;");
    expect(headers["permissions-policy"]).toContain("loopback-network=(self)");
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  });

  test("on https require https", async () => {
    const { headers } = await get(await serve({ siteUrl: "https://ai.example.com" }), "/sign-in");
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
  });

  test.for([
    ["sluice-theme=dark", "dark"],
    ["other=1; sluice-theme=light; more=2", "light"],
    ["sluice-theme=system", "system"],
    ['sluice-theme=x"><script>', "system"],
    ["not-sluice-theme=dark", "system"],
    ["", "system"],
  ] as const)("with the cookie %j have the theme %s", async ([cookie, theme]) => {
    const { body } = await get(await serve(), "/sign-in", { cookie });
    expect(body).toBe(shell.replace('data-theme="system"', `data-theme="${theme}"`));
  });

  test("carry data that cannot break out of its script element", async () => {
    const pageData = { words: "</script><script>alert(1)</script> <!-- $& \u2028" };
    const { body, statusCode } = await get(await serve({ pageData }), "/test/page");
    expect(statusCode).toBe(400);
    expect(body.match(/<script/g)).toHaveLength(1);
    expect(body.match(/<\/script/g)).toHaveLength(1);
    const json = /<script type="application\/json" id="page-data">(.*?)<\/script>/.exec(body)?.[1] ?? "";
    expect(JSON.parse(json)).toEqual(pageData);
  });

  test("that do not exist are an HTML page for people and the API's error for programs", async () => {
    const http = await serve();
    const page = await get(http, "/nowhere");
    expect([page.statusCode, page.body]).toEqual([404, shell]);
    expect(page.headers["x-frame-options"]).toBe("DENY");
    for (const url of ["/v1/nowhere", "/v1", "/console/api/nowhere", "/assets/nowhere.js"]) {
      const answer = await get(http, url);
      expect([answer.statusCode, answer.json().error.code]).toEqual([404, "not_found"]);
    }
    const program = await get(http, "/nowhere", { accept: "application/json" });
    expect(program.json().error.code).toBe("not_found");
    const posted = await http.inject({ method: "POST", url: "/nowhere", headers: { accept: "text/html" } });
    expect(posted.json().error.code).toBe("not_found");
  });

  test("without a build report it, and other routes are not affected", async () => {
    rmSync(join(directory, "index.html"));
    const http = await serve();
    const page = await get(http, "/sign-in");
    expect(page.statusCode).toBe(503);
    expect(page.body).toContain("not built");
    expect((await get(http, "/assets/index-abc.js")).statusCode).toBe(404);
  });
});

describe("a page's prerendered content", () => {
  const [links, body] = ["<link>", "<h1>Overview</h1>"];
  const documentOf = (page: { links: string; body: string }): string =>
    shell.replace("</head>", `${page.links}</head>`).replace("</div>", `${page.body}</div>`);
  beforeEach(() => {
    const paths = ["/", "/console", "/sign-up", "/docs/guide/:chapter", "/docs/guide/chat"];
    writePages(paths.map((path) => [path, { links, plainLinks: "", body: path.includes(":") ? "" : body }]));
  });

  type Page = { links: string; plainLinks: string; body: string };

  function writePages(pages: readonly (readonly [path: string, page: Page])[]): void {
    const packed = pages.map(([path, page]) => {
      const stored = page.body === "" ? "" : brotliCompressSync(page.body).toString("base64");
      return [path, { ...page, body: stored }];
    });
    const parts = { mark: "", announcements: {} };
    writeFileSync(join(directory, "pages.json"), JSON.stringify({ pages: Object.fromEntries(packed), parts }));
  }

  test("is in its own document only", async () => {
    const http = await serve();
    expect((await get(http, "/")).body).toBe(documentOf({ links, body }));
    expect((await get(http, "/sign-in")).body).toBe(shell);
    expect((await get(http, "/nowhere")).body).toBe(shell);
  });

  test("of the console is hidden from visitors without a session", async () => {
    const http = await serve();
    expect((await get(http, "/console")).body).toBe(documentOf({ links, body: "" }));
    const cookie = "sluice-theme=system; sluice-session=abc";
    expect((await get(http, "/console", { cookie })).body).toBe(documentOf({ links, body }));
  });

  test("is sent for its own address, and the page type's fallback for unknown addresses", async () => {
    const http = await serve();
    for (const url of ["/docs/guide/chat", "/docs/guide/chat?from=mail"]) {
      expect((await get(http, url)).body).toBe(documentOf({ links, body }));
    }
    for (const url of ["/docs/guide/nothing", "/docs/guide/:chapter"]) {
      expect((await get(http, url)).body).toBe(documentOf({ links, body: "" }));
    }
  });

  test.for([
    ["open", "/sign-up", body],
    ["open", "/sign-up?from=mail", body],
    ["open", "/sign-up?invite=abc", ""],
    ["invite", "/sign-up", ""],
    ["closed", "/sign-up", ""],
  ] as const)("where sign-up is %s is sent for %s in its final form", async ([signUp, url, sent]) => {
    expect((await get(await serve({ signUp }), url)).body).toBe(documentOf({ links, body: sent }));
  });

  test("preloads the first requests for a session, unless the address has a search", async () => {
    const plainLinks = "<link asked>";
    writePages([["/console/tasks", { links, plainLinks, body }]]);
    const http = await serve();
    const cookie = "sluice-session=abc";
    const asked = await get(http, "/console/tasks", { cookie });
    expect(asked.body).toBe(documentOf({ links: `${plainLinks}${links}`, body }));
    expect((await get(http, "/console/tasks?q=boat", { cookie })).body).toBe(documentOf({ links, body }));
    expect((await get(http, "/console/tasks")).body).toBe(documentOf({ links, body: "" }));
  });

  test("changes with the brand, also in the compressed form", async () => {
    const built = readSiteFiles(directory);
    invariant(built !== null, "the test wrote a site");
    const dressed = (name: string): SiteFiles => ({ ...built, shell: `${shell}${name.repeat(400)}` });
    let files = dressed("one");
    const http = await serve({ getFiles: () => files });
    const headers = { "accept-encoding": "gzip" };
    const read = async () => gunzipSync((await get(http, "/", headers)).rawPayload).toString();
    expect(await read()).toContain("oneone");
    files = dressed("two");
    expect(await read()).toContain("twotwo");
  });

  test.for([
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
    ["", undefined, (bytes: Buffer) => bytes],
  ] as const)("is sent for Accept-Encoding %j as %s, twice the same", async ([accepted, encoding, decode]) => {
    const text = body.repeat(200);
    writePages([["/", { links, plainLinks: "", body: text }]]);
    const http = await serve();
    for (let visit = 0; visit < 2; visit += 1) {
      const { headers, rawPayload } = await get(http, "/", { "accept-encoding": accepted });
      expect(headers["content-encoding"]).toBe(encoding);
      expect(headers.vary).toContain("accept-encoding");
      expect(decode(rawPayload).toString()).toBe(documentOf({ links, body: text }));
    }
  });
});

describe("assets", () => {
  test.for([
    ["gzip, deflate, br", "br"],
    ["gzip, deflate", "gzip"],
    ["", undefined],
    ["brotli", undefined],
  ] as const)("for %j are sent as %s", async ([accepted, encoding]) => {
    const { headers, rawPayload, statusCode } = await get(await serve(), "/assets/index-abc.js", {
      "accept-encoding": accepted,
    });
    expect(statusCode).toBe(200);
    expect(headers["content-encoding"]).toBe(encoding);
    const expected = { br: brotliCompressSync(program), gzip: gzipSync(program) };
    expect(rawPayload.equals(encoding === undefined ? Buffer.from(program) : expected[encoding])).toBe(true);
    expect(headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
  });

  test("of videos support range requests", async () => {
    writeFileSync(join(directory, "assets/film-abc.mp4"), "0123456789");
    const http = await serve();
    const part = await get(http, "/assets/film-abc.mp4", { range: "bytes=2-4" });
    expect([part.statusCode, part.payload, part.headers["content-range"]]).toEqual([206, "234", "bytes 2-4/10"]);
    expect(part.headers).toMatchObject({
      "content-type": "video/mp4",
      "accept-ranges": "bytes",
      "content-length": "3",
    });
    expect((await get(http, "/assets/film-abc.mp4", { range: "bytes=20-" })).payload).toBe("0123456789");
    expect((await get(http, "/assets/index-abc.js", { range: "bytes=2-4" })).statusCode).toBe(200);
  });

  test.for(["/assets/..%2findex.html", "/assets/%2e%2e/index.html", "/assets/index-abc.js.br", "/assets/"])(
    "%s is not one of them",
    async (url) => {
      expect((await get(await serve(), url, { accept: "*/*" })).statusCode).toBe(404);
    },
  );
});

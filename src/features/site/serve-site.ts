import { AppError } from "../../platform/errors/app-error.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { parseByteRange } from "../../platform/http/parse-byte-range.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import { escapeForScript } from "./brand/apply-brand.ts";
import { fillStatusSlot } from "./brand/fill-page-slots.ts";
import { createDocumentCompressor } from "./compress-document.ts";
import { type PagePolicy, presentPageHeaders } from "./page-headers.ts";
import type { SignUpPolicy } from "./sign-in/user/user.ts";
import type { SiteFile, SiteFiles, SitePage } from "./site-files.ts";

type Headers = Record<string, string | string[] | undefined>;

/** The subset of the framework's reply that a page needs. */
type PageReply = {
  request: { url: string; headers: Headers };
  code(status: number): unknown;
  headers(values: Record<string, string>): unknown;
  send(body: string | Buffer): unknown;
};

type ShellOptions = {
  status?: number;
  /** Page data beyond the console API, embedded into the shell. */
  data?: unknown;
  policy?: PagePolicy;
  /** The page's path, as in the list of pages. */
  path?: string;
  /** Data of the status page, as HTML. */
  markup?: string | null;
};

export type SiteShell = {
  /** Sends the site's HTML document; the URL decides which page it shows. */
  sendShell(reply: PageReply, options?: ShellOptions): void;
  /** Adds the assets, the static pages and the 404 page. */
  addRoutes(http: HttpServer): void;
};

/** Pages that load all their data from the console API. */
const pagePaths = [
  "/",
  "/console",
  "/console/admin",
  "/console/admin/*",
  "/console/billing",
  "/console/keys",
  "/console/models",
  "/console/models/*",
  "/console/playground",
  "/console/requests",
  "/console/requests/:id",
  "/console/settings",
  "/console/tasks",
  "/console/tasks/:id",
  "/console/usage",
  "/console/usage/charges/:id",
  "/console/webhooks",
  "/console/webhooks/:id",
  "/docs",
  "/docs/guide",
  "/docs/guide/:chapter",
  "/docs/reference/:name",
  "/outbox",
  "/reset-password",
  "/security",
  "/sign-in",
  "/sign-up",
  "/verify-email",
] as const;

const connectPagePaths = ["/connect/device", "/connect/requests/:id"] as const;

const notBuilt = "<!doctype html><title>Sluice</title><p>The site is not built. `npm start` builds it.</p>\n";

type SiteShellOptions = {
  siteUrl: string;
  signUp: SignUpPolicy;
  /** The rendered data of `/status`, `null` while it is not available. Without it, the path does not exist. */
  readStatus: (() => Promise<string | null>) | null;
  /** The current files, which change with the brand. `null` if the site is not built. */
  getFiles(): SiteFiles | null;
};

/** Serves the built site. The document contains no user data. */
export function createSiteShell({ siteUrl, signUp, readStatus, getFiles }: SiteShellOptions): SiteShell {
  const isHttps = new URL(siteUrl).protocol === "https:";
  const compressFixed = createDocumentCompressor();
  const compressLive = createDocumentCompressor();
  // The brand does not change the inline styles.
  const shell = getFiles()?.shell ?? "";
  const headersByPolicy = {
    page: presentPageHeaders("page", { isHttps, shell }),
    connect: presentPageHeaders("connect", { isHttps, shell }),
  };

  function sendShell(reply: PageReply, options: ShellOptions = {}): void {
    const { status = 200, data, policy = "page", path = "", markup = null } = options;
    const files = getFiles();
    reply.code(files === null ? 503 : status);
    reply.headers({ ...headersByPolicy[policy], "content-type": "text/html; charset=utf-8" });
    if (files === null) return void reply.send(notBuilt);
    const theme = readTheme(reply);
    const { url } = reply.request;
    const { page, name } = choosePage(files.pages, path, url);
    const hasBody = isSent({ path, signUp, url, cookies: readCookies(reply) });
    const isPlain = hasBody && !url.includes("?");
    const write = () => {
      const links = isPlain ? `${page.plainLinks}${page.links}` : page.links;
      const sent = hasBody ? page.readBody() : "";
      const body = markup === null ? sent : fillStatusSlot(sent, markup);
      return fillShell(files.shell, { data, theme, links, body });
    };
    const compress = markup === null ? compressFixed : compressLive;
    // User data is never compressed together with attacker-controlled text (BREACH).
    const { encoding, body } =
      data === undefined
        ? compress(
            { sources: [files, markup], name: `${name} ${theme} ${hasBody} ${isPlain}`, write },
            readEncodings(reply),
          )
        : { encoding: null, body: write() };
    reply.headers({ vary: "accept-encoding, cookie", ...(encoding === null ? {} : { "content-encoding": encoding }) });
    reply.send(body);
  }

  return {
    sendShell,
    addRoutes(http) {
      const schema = { hide: true };
      for (const path of pagePaths) {
        const params = describePage(path);
        http.get(path, { schema: { ...schema, params } }, (_request, reply) => sendShell(reply, { path }));
      }
      for (const path of connectPagePaths) {
        const params = describePage(path);
        http.get(path, { schema: { ...schema, params } }, (_request, reply) =>
          sendShell(reply, { path, policy: "connect" }),
        );
      }
      if (readStatus !== null) {
        http.get("/status", { schema }, async (_request, reply) => {
          sendShell(reply, { path: "/status", markup: await readStatus() });
          return reply;
        });
      }
      addAssets(http, getFiles);
      http.addHook("preHandler", (request, reply, done) => {
        if (request.is404 && isPageRequest(request)) sendShell(reply, { status: 404 });
        else done();
      });
    },
  };
}

/** The page itself validates its parameters. */
function describePage(path: string) {
  const names = [...path.matchAll(/:([a-z_]+)/g)].map(([, name = ""]) => name);
  return pathParams(Object.fromEntries(names.map((name) => [name, "page" as const])));
}

const imagePolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/** Asset names contain a content hash, so browsers may cache them forever. */
function addAssets(http: HttpServer, getFiles: SiteShellOptions["getFiles"]): void {
  const params = pathParams({ name: "asset" });
  http.get<{ Params: { name: string } }>("/assets/:name", { schema: { hide: true, params } }, (request, reply) => {
    const file = getFiles()?.assets.get(request.params.name);
    if (file === undefined) throw new AppError("not_found", "There is nothing at this path.");
    const { encoding, body } = chooseEncoding(file, request.headers["accept-encoding"] ?? "");
    reply.headers({
      "content-type": file.type,
      "cache-control": "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "same-origin",
      ...(file.type.startsWith("video/") ? { "accept-ranges": "bytes" } : {}),
      // The operator's logo is untrusted: opened directly, it may not run scripts.
      ...(file.type === "image/svg+xml" ? { "content-security-policy": imagePolicy } : {}),
      vary: "accept-encoding",
      ...(encoding === null ? {} : { "content-encoding": encoding }),
    });
    // Some browsers require range requests for video.
    const range = file.type.startsWith("video/") ? parseByteRange(request.headers.range, body.length) : null;
    if (range === null || range === "unsatisfiable") return reply.send(body);
    const { start, end } = range;
    return reply
      .code(206)
      .header("content-range", `bytes ${start}-${end}/${body.length}`)
      .send(body.subarray(start, end + 1));
  });
}

function chooseEncoding(file: SiteFile, accepted: string): { encoding: "br" | "gzip" | null; body: Buffer } {
  const offered = accepted.split(",").map((word) => word.trim());
  if (file.brotli !== null && offered.includes("br")) return { encoding: "br", body: file.brotli };
  if (file.gzip !== null && offered.includes("gzip")) return { encoding: "gzip", body: file.gzip };
  return { encoding: null, body: file.plain };
}

/** Browsers get a 404 page; programs get the API's error. */
function isPageRequest(request: { method: string; url: string; headers: Headers }): boolean {
  const isProgram = /^\/(v1|console\/api|admin\/v1|assets)(\/|\?|$)/.test(request.url);
  const accepted = String(request.headers.accept ?? "");
  return !isProgram && (request.method === "GET" || request.method === "HEAD") && accepted.includes("text/html");
}

const noPage: SitePage = { links: "", plainLinks: "", readBody: () => "" };

/** The page prerendered for this URL, else the one of its route. */
function choosePage(pages: SiteFiles["pages"], path: string, url: string): { page: SitePage; name: string } {
  const [address = ""] = url.split("?");
  const name = path !== "" && pages.has(address) ? address : path;
  return { page: pages.get(name) ?? noPage, name };
}

type Visit = { path: string; signUp: SignUpPolicy; url: string; cookies: string };

/** Skip prerendered pages that redirect or change once the script runs. */
function isSent({ path, signUp, url, cookies }: Visit): boolean {
  if (path.startsWith("/console")) return /(?:^|;\s*)sluice-session=/.test(cookies);
  if (path === "/sign-up") return signUp === "open" && !/[?&]invite=/.test(url);
  return true;
}

type ShellContents = { data: unknown; theme: string; links: string; body: string };

function fillShell(shell: string, { data, theme, links, body }: ShellContents): string {
  const themed = shell.replace('data-theme="system"', () => `data-theme="${theme}"`);
  if (data === undefined) {
    return themed
      .replace("</head>", () => `${links}</head>`)
      .replace('<div id="site">', () => `<div id="site">${body}`);
  }
  const block = `<script type="application/json" id="page-data">${escapeForScript(JSON.stringify(data))}</script>`;
  return themed.replace("</head>", () => `${block}</head>`);
}

/** The theme is in a cookie, so the first paint has the right colours without a script. */
function readTheme(reply: PageReply): string {
  return /(?:^|;\s*)sluice-theme=(light|dark)(?:;|$)/.exec(readCookies(reply))?.[1] ?? "system";
}

function readCookies(reply: PageReply): string {
  return String(reply.request.headers.cookie ?? "");
}

function readEncodings(reply: PageReply): string {
  return String(reply.request.headers["accept-encoding"] ?? "");
}

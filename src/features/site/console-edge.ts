import { invariant } from "../../lib/invariant.ts";
import { presentNetwork } from "../../lib/network.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { errorAnswers } from "../../platform/http/error-answers.ts";
import { describeConsoleRoutes } from "../../platform/http/openapi.ts";
import type { SiteSession } from "./sign-in/session/site-session.ts";

type ConsoleEdgeOptions = {
  siteUrl: string;
  counters: Counters;
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
};

type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

const bodyBytesMax = 64 * 1024;
/** A page asks for a few things at once; no person keeps this up. */
const requestsPerMinute = 600;

const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** What every route of the console API can answer beside its own errors. */
const commonErrors = ["not_signed_in", "rate_limit_exceeded", "internal_error", "overloaded", "shutting_down"] as const;
const changeErrors = [
  "cross_site_request",
  "invalid_json",
  "invalid_parameter",
  "missing_parameter",
  "unknown_parameter",
  "payload_too_large",
  "unsupported_media_type",
] as const satisfies readonly ErrorCode[];

const sessions = new WeakMap<object, SiteSession>();

/** Who is asking, in a route of the console API that is not open to everybody. */
export function getSession(request: object): SiteSession {
  const session = sessions.get(request);
  invariant(session !== undefined, "this route is open to everybody");
  return session;
}

/** For what must not be done by whoever finds a browser unattended. */
export function requireFresh(session: SiteSession, now: Date): void {
  if (session.freshUntil.getTime() > now.getTime()) return;
  throw new AppError("reauthentication_required", "Prove that it is you before you do this.");
}

/** Who is asking, where they must have just proven it. */
export function getFreshSession(request: object, now: Date): SiteSession {
  const session = getSession(request);
  requireFresh(session, now);
  return session;
}

/** The errors of a console route for its schema: its own, and those that the edge can answer with. */
export function consoleErrors(method: "GET" | "POST" | "PATCH" | "DELETE", own: readonly ErrorCode[] = []) {
  return errorAnswers([...new Set([...own, ...(method === "GET" ? [] : changeErrors), ...commonErrors])]);
}

/**
 * Adds the console API under `/console/api`. All its routes are for people who are signed in, unless a route's
 * `config` says `access: "open"`; what changes something is taken from pages of this site only.
 */
export async function addConsoleApi(
  http: HttpServer,
  { siteUrl, counters, readSession }: ConsoleEdgeOptions,
  addRoutes: (consoleApi: HttpServer) => void,
): Promise<void> {
  const { origin } = new URL(siteUrl);
  await http.register(
    async (consoleApi: HttpServer) => {
      await describeConsoleRoutes(consoleApi, { siteUrl });
      consoleApi.addHook("onRoute", (route) => {
        // What the API offers to programs keeps the limits it has there.
        if (route.config?.endpoint === undefined) route.bodyLimit ??= bodyBytesMax;
      });
      consoleApi.addHook("onRequest", async (request, reply) => {
        reply.headers(securityHeaders);
        await countRequest(counters, request.ip);
        if (request.method !== "GET" && request.method !== "HEAD") {
          requireOwnPage(request, { origin, takesForm: isFormRoute(request.routeOptions.schema) });
        }
        const session = await readSession(request.headers);
        if (session !== null) sessions.set(request, session);
        else if (request.routeOptions.config.access !== "open") throw createNotSignedIn();
      });
      addRoutes(consoleApi);
      consoleApi.get("/openapi.json", { config: { access: "open" }, schema: { hide: true } }, async () =>
        consoleApi.consoleSwagger(),
      );
    },
    { prefix: "/console/api" },
  );
}

/** The session of a route that is open to everybody, where there is one. */
export function findSession(request: object): SiteSession | null {
  return sessions.get(request) ?? null;
}

function createNotSignedIn(): AppError {
  return new AppError("not_signed_in", "Sign in first: nobody is signed in, or the session has ended.");
}

async function countRequest(counters: Counters, address: string): Promise<void> {
  const key = `console:${presentNetwork(address)}`;
  const { isAllowed, rates } = await counters.take({
    rates: [{ key, perMinute: requestsPerMinute, cost: 1 }],
    leases: [],
  });
  if (isAllowed) return;
  const seconds = Math.max(1, Math.ceil((rates[0]?.retryAfterMs ?? 0) / 1000));
  throw new AppError("rate_limit_exceeded", `Too many requests. Try again in ${seconds} s.`, {
    headers: { "retry-after": String(seconds) },
  });
}

/** Whether the route says that it takes a form. */
function isFormRoute(schema: { consumes?: readonly string[] } | undefined): boolean {
  return schema?.consumes?.includes("multipart/form-data") === true;
}

/**
 * Against CSRF: a browser says which page a request comes from, and no page can change that. Where it says so in two ways, both must
 * be right. A body that is not JSON could come from a form of any site, without the browser asking us first; only an
 * upload is such a form, and is known by its origin alone.
 */
function requireOwnPage(
  request: { method: string; headers: RequestHeaders },
  { origin, takesForm }: { origin: string; takesForm: boolean },
): void {
  const { origin: from, "sec-fetch-site": site, "content-type": type } = request.headers;
  if (from !== origin || (site !== undefined && site !== "same-origin")) {
    throw new AppError("cross_site_request", `This is for pages of ${origin} only. Open the site at that address.`);
  }
  const wanted = takesForm ? /^multipart\/form-data\s*;/i : /^application\/json\s*(;|$)/i;
  const hasBody = request.method === "POST" || request.method === "PATCH";
  if (hasBody && !wanted.test(String(type))) {
    throw new AppError(
      "unsupported_media_type",
      `Send Content-Type: ${takesForm ? "multipart/form-data" : "application/json"}.`,
      { param: "Content-Type" },
    );
  }
}

import type { SiteSession } from "../../lib/console-session.ts";
import { invariant } from "../../lib/invariant.ts";
import { presentNetwork } from "../../lib/network.ts";
import type { Counters } from "../counters/counters.ts";
import { AppError } from "../errors/app-error.ts";
import type { ErrorCode } from "../errors/error-table.ts";
import type { HttpServer } from "./create-http-server.ts";
import { errorAnswers } from "./error-answers.ts";
import { hideFromView, requireViewable } from "./narrow-session.ts";
import { describeConsoleRoutes } from "./openapi.ts";

type ConsoleEdgeOptions = {
  siteUrl: string;
  counters: Counters;
  readSession(headers: RequestHeaders): Promise<SiteSession | null>;
};

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

const bodyBytesMax = 64 * 1024;
/** A page sends several requests at once; only a program sustains this rate. */
const requestsPerMinute = 600;

export const securityHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Errors that every route of the console API can return. */
const commonErrors = [
  "not_signed_in",
  "view_read_only",
  "access_blocked",
  "rate_limit_exceeded",
  "internal_error",
  "overloaded",
  "shutting_down",
] as const;
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

/** The session of a route that requires one. */
export function getSession(request: object): SiteSession {
  const session = sessions.get(request);
  invariant(session !== undefined, "this route does not require a session");
  return session;
}

/** Protects sensitive changes against the finder of an unattended browser. */
export function requireFresh(session: SiteSession, now: Date): void {
  if (session.freshUntil.getTime() > now.getTime()) return;
  throw new AppError(
    "reauthentication_required",
    "Confirm your identity to continue: enter your password or code, or use a passkey.",
  );
}

/** The session of a route that requires a recent authentication. */
export function getFreshSession(request: object, now: Date): SiteSession {
  const session = getSession(request);
  requireFresh(session, now);
  return session;
}

/** The error responses of a console route for its schema. */
export function consoleErrors(method: "GET" | "POST" | "PATCH" | "DELETE", own: readonly ErrorCode[] = []) {
  return errorAnswers([...new Set([...own, ...(method === "GET" ? [] : changeErrors), ...commonErrors])]);
}

/**
 * Adds the console API under `/console/api`. Routes require a session unless their `config` has `access: "open"`.
 * Requests that change data must come from pages of this site (CSRF protection).
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
        // Endpoints shared with the public API keep their own limits.
        if (route.config?.endpoint === undefined) route.bodyLimit ??= bodyBytesMax;
      });
      consoleApi.addHook("onRequest", async (request, reply) => {
        reply.headers(securityHeaders);
        await countRequest(counters, request.ip, "console");
        if (request.method !== "GET" && request.method !== "HEAD") {
          requireOwnPage(request, { origin, takesForm: isFormRoute(request.routeOptions.schema) });
        }
        const session = await readSession(request.headers);
        const from = { address: request.ip, requestId: request.id };
        if (session !== null) sessions.set(request, { ...session, from });
        else if (request.routeOptions.config.access !== "open") throw createNotSignedIn();
        if (session !== null && session.view !== null) {
          const { method, query } = request;
          requireViewable({ method, url: request.routeOptions.url, query });
        }
      });
      consoleApi.addHook("preSerialization", async (request, _reply, payload) =>
        findSession(request)?.view == null ? payload : hideFromView(payload, siteUrl),
      );
      addRoutes(consoleApi);
      consoleApi.get("/openapi.json", { config: { access: "open" }, schema: { hide: true } }, async () =>
        consoleApi.consoleSwagger(),
      );
    },
    { prefix: "/console/api" },
  );
}

/** The session of a route with open access, or null. */
export function findSession(request: object): SiteSession | null {
  return sessions.get(request) ?? null;
}

export function createNotSignedIn(): AppError {
  return new AppError("not_signed_in", "You are not signed in, or your session has ended. Sign in.");
}

/** Limits requests per network. */
export async function countRequest(counters: Counters, address: string, side: "console" | "admin"): Promise<void> {
  const key = `${side}:${presentNetwork(address)}`;
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

function isFormRoute(schema: { consumes?: readonly string[] } | undefined): boolean {
  return schema?.consumes?.includes("multipart/form-data") === true;
}

/**
 * CSRF protection. Browsers set `Origin` and `Sec-Fetch-Site`, and no page can forge them: both must match if both are
 * sent. Any site can submit a form without a CORS preflight, so only upload routes accept one.
 */
export function requireOwnPage(
  request: { method: string; headers: RequestHeaders },
  { origin, takesForm }: { origin: string; takesForm: boolean },
): void {
  const { origin: from, "sec-fetch-site": site, "content-type": type } = request.headers;
  if (from !== origin || (site !== undefined && site !== "same-origin")) {
    throw new AppError(
      "cross_site_request",
      `This request must come from a page of ${origin}. Open the site at that address.`,
    );
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

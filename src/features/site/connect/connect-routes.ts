import { Type } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { errorAnswers } from "../../../platform/http/error-answers.ts";
import type { NewApiKey } from "../../accounts/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import { deviceRate, entryRate, exchangeRate, pollRate, requireRate, takeRate } from "./connect-limits.ts";
import { exchangeCode, pollDevice } from "./exchange-secret.ts";
import { openBrowserRequest, openDeviceRequest, pollSecondsFirst } from "./open-request.ts";
import { clientRule, isClientName, parseEntry } from "./parse-entry.ts";

const entryPath = "/connect/browser-auth";
const bodyBytesMax = 8 * 1024;

/** Responses contain or lead to a key: never cache them. */
const privateHeaders = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

/** Entry point of programs. Errors are shown on a page, never redirected to an address from the program. */
export function addEntryRoutes(site: HttpServer, dependencies: SiteDependencies): void {
  const schema = { hide: true };
  site.get(entryPath, { schema }, async (request, reply) => {
    const seconds = await takeRate(dependencies.counters, entryRate, request.ip);
    if (seconds !== null) {
      const message = `Too many authorization requests from your network. Try again in ${seconds} s.`;
      const data = { kind: "message", title: "Wait a moment", message };
      reply.header("retry-after", String(seconds));
      dependencies.sendShell(reply, { status: 429, data, policy: "connect" });
      return reply;
    }
    const entry = parseEntry(readQueryText(request.url));
    if (entry.kind === "refused") {
      const data = { kind: "connect-error", problems: entry.problems };
      dependencies.sendShell(reply, { status: 400, data, policy: "connect" });
      return reply;
    }
    const id = await openBrowserRequest(dependencies, entry);
    return reply.headers(privateHeaders).redirect(`/connect/requests/${id}`, 303);
  });
  // The former path; the query is passed on unchanged.
  site.get("/connect/cli-auth", { schema }, async (request, reply) => {
    const query = request.url.includes("?") ? `?${readQueryText(request.url)}` : "";
    return reply.headers(privateHeaders).redirect(`${entryPath}${query}`, 308);
  });
}

/** The raw query, not parsed. */
function readQueryText(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

const keySchema = Type.Object({
  api_key: Type.String(),
  name: Type.String(),
  account: Type.String(),
  created_at: Type.String(),
  expires_at: Type.Union([Type.String(), Type.Null()]),
});

/** Endpoints for programs without a browser. They accept JSON or, like OAuth libraries, a form. */
export async function addProgramRoutes(site: HttpServer, dependencies: SiteDependencies): Promise<void> {
  await site.register(async (programs: HttpServer) => {
    programs.addContentTypeParser<string>(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: bodyBytesMax },
      (_request, body, done) => done(null, readForm(body)),
    );
    programs.addHook("onRequest", async (_request, reply) => {
      reply.headers(privateHeaders);
    });
    addExchange(programs, dependencies);
    addDevice(programs, dependencies);
    addPoll(programs, dependencies);
  });
}

function readForm(body: string): Record<string, string | string[]> {
  const form = new URLSearchParams(body);
  const read = (name: string): string | string[] => {
    const [value = "", ...others] = form.getAll(name);
    return others.length === 0 ? value : [value, ...others];
  };
  return Object.fromEntries([...new Set(form.keys())].map((name) => [name, read(name)]));
}

const bodyErrors = [
  "invalid_json",
  "invalid_parameter",
  "missing_parameter",
  "unknown_parameter",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limit_exceeded",
  "internal_error",
  "overloaded",
  "shutting_down",
] as const;

function addExchange(http: HttpServer, dependencies: SiteDependencies): void {
  const secret = Type.String({ minLength: 1, maxLength: 1024 });
  const body = Type.Object(
    {
      code: secret,
      code_verifier: Type.String({ pattern: "^[A-Za-z0-9._~-]{43,128}$" }),
      client: Type.Optional(Type.String()),
      redirect_uri: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  );
  const response = { 200: keySchema, ...errorAnswers(["invalid_grant", ...bodyErrors]) };
  http.post(
    "/connect/token",
    { bodyLimit: bodyBytesMax, schema: { hide: true, body, response } },
    async ({ ip, body: given }) => {
      await requireRate(dependencies.counters, exchangeRate, ip);
      const { code, code_verifier: codeVerifier, client, redirect_uri: redirectUri } = given;
      return presentKey(await exchangeCode(dependencies, { code, codeVerifier, client, redirectUri }));
    },
  );
}

function addDevice(http: HttpServer, dependencies: SiteDependencies): void {
  const body = Type.Object({ client: Type.String() }, { additionalProperties: false });
  const opened = Type.Object({
    device_code: Type.String(),
    user_code: Type.String(),
    verification_uri: Type.String(),
    verification_uri_complete: Type.String(),
    interval: Type.Integer(),
    expires_in: Type.Integer(),
  });
  http.post(
    "/connect/device",
    {
      bodyLimit: bodyBytesMax,
      schema: { hide: true, body, response: { 200: opened, ...errorAnswers(bodyErrors) } },
    },
    async ({ ip, headers, body: { client } }) => {
      await requireRate(dependencies.counters, deviceRate, ip);
      if (!isClientName(client)) {
        throw new AppError("invalid_parameter", `\`client\` ${clientRule}.`, { param: "client" });
      }
      const asker = { client, address: ip, userAgent: headers["user-agent"] ?? "" };
      const { deviceCode, userCode, expiresInSeconds } = await openDeviceRequest(dependencies, asker);
      const page = `${dependencies.siteUrl}/connect/device`;
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        interval: pollSecondsFirst,
        expires_in: expiresInSeconds,
      };
    },
  );
}

function addPoll(http: HttpServer, dependencies: SiteDependencies): void {
  const body = Type.Object(
    { device_code: Type.String({ minLength: 1, maxLength: 1024 }) },
    { additionalProperties: false },
  );
  const errors = errorAnswers([
    "authorization_pending",
    "slow_down",
    "access_denied",
    "expired_token",
    "invalid_grant",
    ...bodyErrors,
  ]);
  http.post(
    "/connect/device/token",
    { bodyLimit: bodyBytesMax, schema: { hide: true, body, response: { 200: keySchema, ...errors } } },
    async ({ ip, body: { device_code: deviceCode } }) => {
      await requireRate(dependencies.counters, pollRate, ip);
      return presentKey(await pollDevice(dependencies, deviceCode));
    },
  );
}

function presentKey({ apiKey, text }: NewApiKey) {
  return {
    api_key: text,
    name: apiKey.name,
    account: apiKey.accountId,
    created_at: apiKey.createdAt.toISOString(),
    expires_at: apiKey.expiresAt?.toISOString() ?? null,
  };
}

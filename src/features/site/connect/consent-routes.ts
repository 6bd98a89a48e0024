import { Type } from "typebox";
import { budgetPeriods } from "../../../lib/budget.ts";
import { parseMoney } from "../../../lib/money.ts";
import { presentNetwork } from "../../../lib/network.ts";
import { isLoopbackHost } from "../../../platform/config/setting-kinds.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { consoleErrors, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { emptyBodySchema } from "../../../platform/http/optional-body.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { findKeyClient } from "../../accounts/index.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import type { DeviceAsker, KeyTerms } from "./connect-request.ts";
import { disconnectClient, listConnectedClients } from "./connected-clients.ts";
import { approveRequest, denyRequest } from "./decide-request.ts";
import { describeKeptBudget, findDeviceRequest, findReplacedKey, readProgress, takeRequest } from "./read-request.ts";

const tags = ["Connect"];
const params = pathParams({ id: "connectRequest" });
const keyDaysMax = 3650;

export function addConsentRoutes(consoleApi: HttpServer, dependencies: SiteDependencies): void {
  addShow(consoleApi, dependencies);
  addApprove(consoleApi, dependencies);
  addDeny(consoleApi, dependencies);
  addStatus(consoleApi, dependencies);
  addLookup(consoleApi, dependencies);
  addConnectedClients(consoleApi, dependencies);
}

function addShow(http: HttpServer, dependencies: SiteDependencies): void {
  const replaced = Type.Object({ created_at: Type.String({ format: "date-time" }), last_four: Type.String() });
  const asked = Type.Object({
    address: Type.String(),
    is_own_address: Type.Boolean({ description: "Whether it equals your own address." }),
    user_agent: Type.String({ description: "As sent by the program; not verified." }),
    at: Type.String({ format: "date-time" }),
  });
  const keptBudget = Type.Object({
    amount: Type.String(),
    period: Type.Enum([...budgetPeriods]),
    spent: Type.String(),
  });
  const shown = Type.Object({
    client: Type.String({ description: "The program's name; not verified." }),
    redirect_host: Type.Union([Type.String(), Type.Null()]),
    replaces: Type.Union([replaced, Type.Null()]),
    budget: Type.Union([keptBudget, Type.Null()], {
      description:
        "The budget of the program's previous key. It continues, including the amount spent, unless you set another.",
    }),
    expires_at: Type.String({ format: "date-time" }),
    uses_code: Type.Boolean(),
    kind: Type.Enum(["browser", "device"]),
    asked: Type.Union([asked, Type.Null()], { description: "Origin of a device's request." }),
  });
  const response = { 200: shown, ...consoleErrors("GET", ["not_found", "already_answered"]) };
  http.get(
    "/connect/requests/:id",
    { schema: { summary: "Get an authorization request", tags, params, response } },
    async (request) => {
      const session = getSession(request);
      const { client, way, expiresAt } = await takeRequest(dependencies, session, request.params.id);
      const key = await findReplacedKey(dependencies, session, client);
      return {
        client,
        redirect_host: way.kind === "browser" ? new URL(way.redirectUri).host : null,
        budget: await describeKeptBudget(dependencies, session, client),
        replaces: key === null ? null : { created_at: key.createdAt.toISOString(), last_four: key.lastFour },
        expires_at: expiresAt.toISOString(),
        uses_code: way.kind === "browser" && way.codeChallenge !== null,
        kind: way.kind,
        asked: way.kind === "device" ? presentAsker(way.asker, request.ip) : null,
      };
    },
  );
}

function presentAsker({ address, userAgent, at }: DeviceAsker, ownAddress: string) {
  // The machine has several addresses of its own.
  const isOwn = presentNetwork(address) === presentNetwork(ownAddress) || [address, ownAddress].every(isLoopbackHost);
  return { address, is_own_address: isOwn, user_agent: userAgent, at: at.toISOString() };
}

function addApprove(http: HttpServer, dependencies: SiteDependencies): void {
  const body = Type.Object(
    {
      expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: keyDaysMax })),
      budget: Type.Optional(Type.String({ examples: ["25.00"] })),
    },
    { additionalProperties: false },
  );
  const approved = Type.Object({
    kind: Type.Enum(["browser", "device"]),
    callback_url: Type.Optional(Type.String({ description: "Where the browser delivers the key or code." })),
  });
  const errors = consoleErrors("POST", ["not_found", "already_answered", "reauthentication_required"]);
  http.post(
    "/connect/requests/:id/approve",
    {
      schema: {
        summary: "Approve an authorization request",
        tags,
        params,
        body,
        response: { 200: approved, ...errors },
      },
    },
    async (request) => {
      const { expires_in_days: days = null, budget } = request.body;
      const terms = { days, budget: budget === undefined ? null : parseBudget(budget) };
      const { id } = request.params;
      const answer = await approveRequest(dependencies, getSession(request), { id, terms, address: request.ip });
      return answer.kind === "device" ? answer : { kind: answer.kind, callback_url: answer.callbackUrl };
    },
  );
}

function parseBudget(text: string): KeyTerms["budget"] {
  const budget = parseMoney(text);
  if (budget !== null) return budget;
  const message = "`budget` must be an amount such as 25 or 12.50, with at most 9 digits on each side of the point.";
  throw new AppError("invalid_parameter", message, { param: "budget" });
}

function addDeny(http: HttpServer, dependencies: SiteDependencies): void {
  const denied = Type.Object({ callback_url: Type.Union([Type.String(), Type.Null()]) });
  const response = { 200: denied, ...consoleErrors("POST", ["not_found", "already_answered"]) };
  http.post(
    "/connect/requests/:id/deny",
    { schema: { summary: "Deny an authorization request", tags, params, body: emptyBodySchema, response } },
    async (request) => {
      const answer = await denyRequest(dependencies, getSession(request), request.params.id);
      return { callback_url: answer.kind === "device" ? null : answer.callbackUrl };
    },
  );
}

function addStatus(http: HttpServer, dependencies: SiteDependencies): void {
  const status = Type.Object({ state: Type.Enum(["waiting", "delivered", "denied", "expired"]) });
  const response = { 200: status, ...consoleErrors("GET", ["not_found"]) };
  http.get(
    "/connect/requests/:id/status",
    { schema: { summary: "Get the status of an authorization request", tags, params, response } },
    async (request) => ({ state: await readProgress(dependencies, getSession(request), request.params.id) }),
  );
}

function addLookup(http: HttpServer, dependencies: SiteDependencies): void {
  const body = Type.Object(
    { user_code: Type.String({ minLength: 1, maxLength: 64, examples: ["BCDF-GHJK"] }) },
    { additionalProperties: false },
  );
  const found = Type.Object({ request_id: Type.String() });
  const response = { 200: found, ...consoleErrors("POST", ["not_found", "too_many_attempts"]) };
  http.post(
    "/connect/device/lookup",
    { schema: { summary: "Find a device's request by its code", tags, body, response } },
    async (request) => {
      const typed = request.body.user_code;
      const id = await findDeviceRequest(dependencies, getSession(request), { typed, address: request.ip });
      return { request_id: id };
    },
  );
}

function addConnectedClients(http: HttpServer, dependencies: SiteDependencies): void {
  const client = Type.Object({
    id: Type.String({ description: "The id of its key." }),
    client: Type.String(),
    created_at: Type.String({ format: "date-time" }),
    expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
    last_used_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
    last_four: Type.String(),
  });
  const list = { 200: Type.Object({ data: Type.Array(client) }), ...consoleErrors("GET") };
  http.get(
    "/connected-clients",
    { schema: { summary: "List connected programs", tags, response: list } },
    async (request) => {
      const clients = await listConnectedClients(dependencies, getSession(request).accountId);
      const data = clients.map(({ apiKey, lastUsedAt }) => ({
        id: apiKey.id,
        client: findKeyClient(apiKey) ?? "",
        created_at: apiKey.createdAt.toISOString(),
        expires_at: apiKey.expiresAt?.toISOString() ?? null,
        last_used_at: lastUsedAt?.toISOString() ?? null,
        last_four: apiKey.lastFour,
      }));
      return { data };
    },
  );
  const ended = { 204: Type.Null(), ...consoleErrors("DELETE", ["not_found"]) };
  http.delete(
    "/connected-clients/:id",
    { schema: { summary: "Disconnect a program", tags, params: pathParams({ id: "key" }), response: ended } },
    async (request, reply) => {
      await disconnectClient(dependencies, getSession(request).accountId, request.params.id);
      reply.code(204);
      return null;
    },
  );
}

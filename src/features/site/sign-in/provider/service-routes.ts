import { Type } from "typebox";
import type { SiteSession } from "../../../../lib/console-session.ts";
import { consoleErrors, getFreshSession, getSession } from "../../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../../platform/http/create-http-server.ts";
import { emptyBodySchema } from "../../../../platform/http/optional-body.ts";
import { pathParams } from "../../../../platform/http/path-params.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { moment } from "../sign-in-schema.ts";
import { disconnectService } from "../user/remove-sign-in-method.ts";
import { listIdentities } from "./identity-store.ts";
import { getProvider, watchCaller } from "./provider-routes.ts";
import { beginProviderSignIn, providerMs } from "./sign-in-with-provider.ts";

const tags = ["Connected services"];
const params = pathParams({ id: "signInProvider" });
const settingsPath = "/console/settings";

const serviceListSchema = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      connected_at: Type.Union([moment, Type.Null()], { description: "`null` if not connected." }),
      is_offered: Type.Boolean({ description: "Whether this site still offers it." }),
    }),
  ),
});

/** Sign-in services of the current user, connected or available. */
export function addServiceRoutes(http: HttpServer, dependencies: SignInDependencies): void {
  const { clock, cookies, providers } = dependencies;
  http.get(
    "/services",
    {
      schema: {
        operationId: "listServices",
        summary: "List sign-in services",
        description: "The services of this site, and connected ones that it no longer offers.",
        tags,
        response: { 200: serviceListSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => ({ data: await describeServices(dependencies, getSession(request)) }),
  );
  http.post(
    "/services/:id/connect",
    {
      schema: {
        operationId: "connectService",
        summary: "Connect a service",
        description: "Returns the URL to open. The browser returns to the settings.",
        tags,
        params,
        body: emptyBodySchema,
        response: {
          200: Type.Object({ location: Type.String() }),
          ...consoleErrors("POST", ["not_found", "reauthentication_required", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      const session = getFreshSession(request, clock.now());
      const provider = getProvider(providers, request.params.id);
      const beginning = { next: settingsPath, session, address: request.ip, signal: watchCaller(reply) };
      const { location, stateToken } = await beginProviderSignIn(dependencies, provider, beginning);
      reply.header("set-cookie", cookies.present("provider", stateToken, providerMs));
      return { location };
    },
  );
  http.delete(
    "/services/:id",
    {
      schema: {
        operationId: "disconnectService",
        summary: "Disconnect a service",
        description: "The service can no longer sign you in. The last sign-in method cannot be removed.",
        tags,
        params,
        response: { 204: Type.Null(), ...consoleErrors("DELETE", ["not_found", "reauthentication_required"]) },
      },
    },
    async (request, reply) => {
      await disconnectService(dependencies, getFreshSession(request, clock.now()), request.params.id);
      return reply.code(204).send(null);
    },
  );
}

async function describeServices({ database, providers }: SignInDependencies, { userId }: SiteSession) {
  const identities = await listIdentities(database, userId);
  const connectedAt = (id: string) => identities.find(({ providerId }) => providerId === id)?.createdAt ?? null;
  const offered = providers.map(({ id, name }) => ({ id, name, is_offered: true }));
  const given = identities
    .filter(({ providerId }) => !providers.some(({ id }) => id === providerId))
    .map(({ providerId }) => ({ id: providerId, name: providerId, is_offered: false }));
  return [...offered, ...given].map((service) => ({
    ...service,
    connected_at: connectedAt(service.id)?.toISOString() ?? null,
  }));
}

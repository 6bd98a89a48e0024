import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError } from "../../../../platform/errors/app-error.ts";
import { getErrorEntry } from "../../../../platform/errors/error-table.ts";
import { findSession } from "../../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../../platform/http/create-http-server.ts";
import { toAppError } from "../../../../platform/http/error-response.ts";
import { pathParams } from "../../../../platform/http/path-params.ts";
import { finishSignIn, readBrowser } from "../finish-sign-in.ts";
import { chooseOwnPath } from "../own-path.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import type { OidcProvider } from "./oidc-provider.ts";
import { beginProviderSignIn, finishProviderSignIn, providerMs } from "./sign-in-with-provider.ts";

const params = pathParams({ id: "signInProvider" });
const text = Type.Optional(Type.String({ maxLength: 4000 }));

/** Users arrive by link, so errors are shown on a page. */
export function addProviderRoutes(http: HttpServer, dependencies: SignInDependencies): void {
  const { cookies, providers } = dependencies;
  const errorHandler = (error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    const failure = toAppError(error, request);
    request.failure = failure;
    const { status } = getErrorEntry(failure.code);
    const data = { kind: "message", title: "You are not signed in", message: failure.message };
    dependencies.sendShell(reply, { status, data });
  };
  http.get(
    "/sign-in/provider/:id",
    {
      config: { access: "open" },
      schema: { hide: true, params, querystring: Type.Object({ next: text }) },
      errorHandler,
    },
    async (request, reply) => {
      const provider = getProvider(providers, request.params.id);
      const { location, stateToken } = await beginProviderSignIn(dependencies, provider, {
        next: chooseOwnPath(request.query.next, dependencies.siteUrl),
        session: findSession(request),
        address: request.ip,
        signal: watchCaller(reply),
      });
      reply.header("set-cookie", cookies.present("provider", stateToken, providerMs));
      return reply.redirect(location, 303);
    },
  );
  http.get(
    "/sign-in/provider/:id/callback",
    {
      config: { access: "open" },
      // Providers may add query parameters.
      schema: { hide: true, params, querystring: Type.Object({ state: text, code: text, error: text, iss: text }) },
      errorHandler,
    },
    async (request, reply) => {
      const provider = getProvider(providers, request.params.id);
      const before = findSession(request);
      const { next, sessionToken } = await finishProviderSignIn(dependencies, provider, {
        query: request.query,
        stateToken: cookies.read(request.headers, "provider"),
        session: before,
        browser: readBrowser(request),
        signal: watchCaller(reply),
      });
      if (sessionToken !== null) await finishSignIn(dependencies, reply, { sessionToken, before });
      reply.header("set-cookie", cookies.presentRemoval("provider"));
      return reply.redirect(next, 303);
    },
  );
}

export function getProvider(providers: readonly OidcProvider[], id: string): OidcProvider {
  const provider = providers.find((one) => one.id === id);
  if (provider === undefined) throw new AppError("not_found", "This site does not offer this sign-in service.");
  return provider;
}

/** Aborted when the client disconnects. */
export function watchCaller(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}

import { Type } from "typebox";
import { consoleErrors, getFreshSession, getSession } from "../../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../../platform/http/create-http-server.ts";
import { emptyBodySchema } from "../../../../platform/http/optional-body.ts";
import { pathParams } from "../../../../platform/http/path-params.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import {
  body,
  passkeyAdditionField,
  passkeyListSchema,
  passkeyOptionsSchema,
  passkeySchema,
} from "../sign-in-schema.ts";
import { removePasskey } from "../user/remove-sign-in-method.ts";
import { listPasskeys, type Passkey } from "./passkey-store.ts";
import { addPasskey, beginPasskeyAddition, passkeyMs } from "./passkeys.ts";

const tags = ["Passkeys"];

export function addPasskeyRoutes(http: HttpServer, dependencies: SignInDependencies): void {
  addAddition(http, dependencies);
  http.get(
    "/passkeys",
    {
      schema: {
        operationId: "listPasskeys",
        summary: "List passkeys",
        tags,
        response: { 200: passkeyListSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => {
      const passkeys = await listPasskeys(dependencies.database, getSession(request).userId);
      return { data: passkeys.map(presentPasskey) };
    },
  );
  http.delete(
    "/passkeys/:id",
    {
      schema: {
        operationId: "removePasskey",
        summary: "Remove a passkey",
        description: "The last sign-in method cannot be removed.",
        tags,
        params: pathParams({ id: "passkey" }),
        response: { 204: Type.Null(), ...consoleErrors("DELETE", ["not_found", "reauthentication_required"]) },
      },
    },
    async (request, reply) => {
      const session = getFreshSession(request, dependencies.clock.now());
      await removePasskey(dependencies, session, request.params.id);
      return reply.code(204).send(null);
    },
  );
}

function addAddition(http: HttpServer, dependencies: SignInDependencies): void {
  const { clock, cookies } = dependencies;
  http.post(
    "/passkeys/options",
    {
      schema: {
        operationId: "beginPasskeyAddition",
        summary: "Get the options of a new passkey",
        tags,
        body: emptyBodySchema,
        response: { 200: passkeyOptionsSchema, ...consoleErrors("POST", ["reauthentication_required"]) },
      },
    },
    async (request, reply) => {
      const { options, passkeyToken } = await beginPasskeyAddition(dependencies, getFreshSession(request, clock.now()));
      reply.header("set-cookie", cookies.present("passkey", passkeyToken, passkeyMs));
      return { ...options };
    },
  );
  http.post(
    "/passkeys",
    {
      schema: {
        operationId: "addPasskey",
        summary: "Add a passkey",
        tags,
        body: body({
          name: Type.String({ minLength: 1, maxLength: 100, pattern: "\\S" }),
          response: passkeyAdditionField,
        }),
        response: { 201: passkeySchema, ...consoleErrors("POST", ["invalid_token", "reauthentication_required"]) },
      },
    },
    async (request, reply) => {
      const passkeyToken = cookies.read(request.headers, "passkey");
      const session = getFreshSession(request, clock.now());
      const passkey = await addPasskey(dependencies, session, { ...request.body, passkeyToken });
      reply.header("set-cookie", cookies.presentRemoval("passkey"));
      return reply.code(201).send(presentPasskey(passkey));
    },
  );
}

function presentPasskey({ id, name, createdAt, lastUsedAt }: Passkey) {
  return { id, name, created_at: createdAt.toISOString(), last_used_at: lastUsedAt?.toISOString() ?? null };
}

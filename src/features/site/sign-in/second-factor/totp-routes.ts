import { Type } from "typebox";
import { consoleErrors, getFreshSession } from "../../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../../platform/http/create-http-server.ts";
import { emptyBodySchema } from "../../../../platform/http/optional-body.ts";
import { sendSessionCookie } from "../finish-sign-in.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { backupCodesSchema, body, codeField, totpOfferSchema } from "../sign-in-schema.ts";
import { confirmTotp, offerTotp, removeTotp, renewBackupCodes } from "./change-second-factor.ts";

const tags = ["Two-factor authentication"];

export function addTotpRoutes(http: HttpServer, dependencies: SignInDependencies): void {
  const { clock, cookies } = dependencies;
  http.post(
    "/totp",
    {
      schema: {
        operationId: "offerTotp",
        summary: "Create an authenticator secret",
        description: "It takes effect after a code is confirmed.",
        tags,
        body: emptyBodySchema,
        response: { 200: totpOfferSchema, ...consoleErrors("POST", ["reauthentication_required"]) },
      },
    },
    async (request) => await offerTotp(dependencies, getFreshSession(request, clock.now())),
  );
  http.post(
    "/totp/confirm",
    {
      schema: {
        operationId: "confirmTotp",
        summary: "Turn on two-factor authentication",
        description: "Returns the backup codes, only this once. Ends all other sessions.",
        tags,
        body: body({ code: codeField }),
        response: {
          200: backupCodesSchema,
          ...consoleErrors("POST", [
            "wrong_credentials",
            "invalid_token",
            "reauthentication_required",
            "too_many_attempts",
          ]),
        },
      },
    },
    async (request, reply) => {
      const session = getFreshSession(request, clock.now());
      const { backupCodes, sessionToken } = await confirmTotp(dependencies, session, request.body.code);
      sendSessionCookie(cookies, reply, sessionToken);
      return { backup_codes: backupCodes };
    },
  );
  http.delete(
    "/totp",
    {
      schema: {
        operationId: "removeTotp",
        summary: "Turn off two-factor authentication",
        tags,
        response: { 204: Type.Null(), ...consoleErrors("DELETE", ["reauthentication_required"]) },
      },
    },
    async (request, reply) => {
      const { sessionToken } = await removeTotp(dependencies, getFreshSession(request, clock.now()));
      sendSessionCookie(cookies, reply, sessionToken);
      return reply.code(204).send(null);
    },
  );
  http.post(
    "/totp/backup-codes",
    {
      schema: {
        operationId: "renewBackupCodes",
        summary: "Create backup codes",
        description: "Earlier codes become invalid.",
        tags,
        body: emptyBodySchema,
        response: { 200: backupCodesSchema, ...consoleErrors("POST", ["not_found", "reauthentication_required"]) },
      },
    },
    async (request) => ({ backup_codes: await renewBackupCodes(dependencies, getFreshSession(request, clock.now())) }),
  );
}

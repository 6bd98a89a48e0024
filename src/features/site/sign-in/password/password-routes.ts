import { Type } from "typebox";
import { consoleErrors, getFreshSession } from "../../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../../platform/http/create-http-server.ts";
import { sendSessionCookie } from "../finish-sign-in.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import { acceptedSchema, body, emailField, newPasswordField, passwordField, tokenField } from "../sign-in-schema.ts";
import { changePassword, forgetPassword, resetPassword } from "./change-password.ts";

const tags = ["Password"];

export function addPasswordRoutes(http: HttpServer, dependencies: SignInDependencies): void {
  http.post(
    "/password/forgot",
    {
      config: { access: "open" },
      schema: {
        operationId: "forgetPassword",
        summary: "Request a password reset",
        tags,
        body: body({ email: emailField }),
        response: { 202: acceptedSchema, ...consoleErrors("POST", ["too_many_attempts"]) },
      },
    },
    async (request, reply) => {
      await forgetPassword(dependencies, { email: request.body.email.trim(), address: request.ip });
      return reply.code(202).send({ kind: "accepted" });
    },
  );
  http.post(
    "/password/reset",
    {
      config: { access: "open" },
      schema: {
        operationId: "resetPassword",
        summary: "Reset the password",
        description: "Ends all sessions.",
        tags,
        body: body({ token: tokenField, password: newPasswordField }),
        response: { 200: acceptedSchema, ...consoleErrors("POST", ["invalid_token", "too_many_attempts"]) },
      },
    },
    async (request) => {
      await resetPassword(dependencies, { ...request.body, address: request.ip });
      return { kind: "accepted" as const };
    },
  );
  http.post(
    "/password",
    {
      schema: {
        operationId: "changePassword",
        summary: "Change the password",
        description: "`current_password` is required if you have one. Ends all other sessions.",
        tags,
        body: body({ current_password: Type.Optional(passwordField), new_password: newPasswordField }),
        response: {
          200: acceptedSchema,
          ...consoleErrors("POST", ["wrong_credentials", "reauthentication_required", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      const session = getFreshSession(request, dependencies.clock.now());
      const sessionToken = await changePassword(dependencies, session, {
        currentPassword: request.body.current_password ?? null,
        newPassword: request.body.new_password,
        address: request.ip,
      });
      sendSessionCookie(dependencies.cookies, reply, sessionToken);
      return { kind: "accepted" as const };
    },
  );
}

import { Type } from "typebox";
import { consoleErrors, findSession } from "../../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../../platform/http/create-http-server.ts";
import { finishSignIn, readBrowser } from "../finish-sign-in.ts";
import type { SignInDependencies } from "../sign-in-dependencies.ts";
import {
  acceptedSchema,
  body,
  emailField,
  newPasswordField,
  passwordField,
  signedInSchema,
  tokenField,
  verifyEmailSchema,
} from "../sign-in-schema.ts";
import { resendLink, signUp, verifyEmail } from "./sign-up.ts";

const tags = ["Sign-up"];
/** Why a sign-up may be refused. */
const admissionErrors = ["disposable_email", "sign_up_limited"] as const;
const signUpCookieMs = 24 * 60 * 60_000;

export function addSignUpRoutes(http: HttpServer, dependencies: SignInDependencies): void {
  const { cookies } = dependencies;
  http.post(
    "/sign-up",
    {
      config: { access: "open" },
      schema: {
        operationId: "signUp",
        summary: "Sign up",
        description: "The response is the same for every address. The e-mail contains the next step.",
        tags,
        body: body({ email: emailField, password: newPasswordField, invite: Type.Optional(tokenField) }),
        response: {
          202: verifyEmailSchema,
          ...consoleErrors("POST", [...admissionErrors, "sign_up_closed", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      const { email, password, invite = null } = request.body;
      const browserToken = await signUp(dependencies, { email: email.trim(), password, invite, address: request.ip });
      reply.header("set-cookie", cookies.present("sign-up", browserToken, signUpCookieMs));
      return reply.code(202).send({ kind: "verify-email" });
    },
  );
  http.post(
    "/email/verify",
    {
      config: { access: "open" },
      schema: {
        operationId: "verifyEmail",
        summary: "Confirm a sign-up by its e-mail link",
        description:
          "In another browser than the one that signed up, `password` is required too: the response is 401 with `param: password`.",
        tags,
        body: body({ token: tokenField, password: Type.Optional(passwordField) }),
        response: {
          200: signedInSchema,
          ...consoleErrors("POST", [
            ...admissionErrors,
            ...(["invalid_token", "wrong_credentials", "sign_up_closed", "too_many_attempts"] as const),
          ]),
        },
      },
    },
    async (request, reply) => {
      const { token, password = null } = request.body;
      const browserToken = cookies.read(request.headers, "sign-up");
      const browser = readBrowser(request);
      const sessionToken = await verifyEmail(dependencies, { token, password, browserToken, browser });
      await finishSignIn(dependencies, reply, { sessionToken, before: findSession(request) });
      reply.header("set-cookie", cookies.presentRemoval("sign-up"));
      return { kind: "signed-in" as const };
    },
  );
  http.post(
    "/email/resend",
    {
      config: { access: "open" },
      schema: {
        operationId: "resendEmail",
        summary: "Resend the sign-up e-mail",
        tags,
        body: body({ email: emailField }),
        response: { 202: acceptedSchema, ...consoleErrors("POST", ["too_many_attempts"]) },
      },
    },
    async (request, reply) => {
      await resendLink(dependencies, { email: request.body.email.trim(), address: request.ip });
      return reply.code(202).send({ kind: "accepted" });
    },
  );
}

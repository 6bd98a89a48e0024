import { Type } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";
import { consoleErrors, findSession, getSession } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { emptyBodySchema } from "../../../platform/http/optional-body.ts";
import { finishSignIn, readBrowser, sendSessionCookie } from "./finish-sign-in.ts";
import { beginPasskeyUse, passkeyMs, signInWithPasskey } from "./passkey/passkeys.ts";
import { signInWithPassword } from "./password/sign-in-with-password.ts";
import { secondFactorMs, signInWithCode } from "./second-factor/second-factor.ts";
import { type Proof, reauthenticate } from "./session/reauthenticate.ts";
import type { SignInDependencies } from "./sign-in-dependencies.ts";
import {
  body,
  codeField,
  emailField,
  freshSchema,
  passkeyOptionsSchema,
  passkeyUseField,
  passwordField,
  signedInSchema,
  signInOutcomeSchema,
} from "./sign-in-schema.ts";

const tags = ["Sign-in"];

export function addSignInRoutes(http: HttpServer, dependencies: SignInDependencies): void {
  addPassword(http, dependencies);
  addCode(http, dependencies, "totp");
  addCode(http, dependencies, "backup-code");
  addPasskey(http, dependencies);
  addReauthentication(http, dependencies);
}

function addPassword(http: HttpServer, dependencies: SignInDependencies): void {
  const { cookies } = dependencies;
  http.post(
    "/sign-in",
    {
      config: { access: "open" },
      schema: {
        operationId: "signIn",
        summary: "Sign in with a password",
        tags,
        body: body({ email: emailField, password: passwordField }),
        response: { 200: signInOutcomeSchema, ...consoleErrors("POST", ["wrong_credentials", "too_many_attempts"]) },
      },
    },
    async (request, reply) => {
      const { email, password } = request.body;
      const outcome = await signInWithPassword(dependencies, {
        email: email.trim(),
        password,
        browser: readBrowser(request),
      });
      if (outcome.kind === "verify-email") return { kind: outcome.kind };
      if (outcome.kind === "second-factor") {
        reply.header("set-cookie", cookies.present("second-factor", outcome.factorToken, secondFactorMs));
        return { kind: outcome.kind, methods: ["totp" as const, "backup-code" as const] };
      }
      await finishSignIn(dependencies, reply, { sessionToken: outcome.sessionToken, before: findSession(request) });
      return { kind: outcome.kind };
    },
  );
}

function addCode(http: HttpServer, dependencies: SignInDependencies, method: "totp" | "backup-code"): void {
  const { cookies } = dependencies;
  http.post(
    `/sign-in/${method}`,
    {
      config: { access: "open" },
      schema: {
        operationId: method === "totp" ? "signInWithTotp" : "signInWithBackupCode",
        summary: `Finish a sign-in with ${method === "totp" ? "an authenticator code" : "a backup code"}`,
        tags,
        body: body({ code: codeField }),
        response: {
          200: signedInSchema,
          ...consoleErrors("POST", ["wrong_credentials", "invalid_token", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      const factorToken = cookies.read(request.headers, "second-factor");
      const browser = readBrowser(request);
      const sessionToken = await signInWithCode(dependencies, {
        factorToken,
        method,
        code: request.body.code,
        browser,
      });
      await finishSignIn(dependencies, reply, { sessionToken, before: findSession(request) });
      reply.header("set-cookie", cookies.presentRemoval("second-factor"));
      return { kind: "signed-in" as const };
    },
  );
}

function addPasskey(http: HttpServer, dependencies: SignInDependencies): void {
  const { cookies } = dependencies;
  http.post(
    "/sign-in/passkey/options",
    {
      config: { access: "open" },
      schema: {
        operationId: "beginPasskeySignIn",
        summary: "Get the options of a passkey sign-in",
        tags,
        body: emptyBodySchema,
        response: { 200: passkeyOptionsSchema, ...consoleErrors("POST", ["too_many_attempts"]) },
      },
    },
    async (request, reply) => {
      const { options, passkeyToken } = await beginPasskeyUse(dependencies, request.ip);
      reply.header("set-cookie", cookies.present("passkey", passkeyToken, passkeyMs));
      return { ...options };
    },
  );
  http.post(
    "/sign-in/passkey",
    {
      config: { access: "open" },
      schema: {
        operationId: "signInWithPasskey",
        summary: "Sign in with a passkey",
        tags,
        body: body({ response: passkeyUseField }),
        response: { 200: signedInSchema, ...consoleErrors("POST", ["wrong_credentials", "invalid_token"]) },
      },
    },
    async (request, reply) => {
      const passkeyToken = cookies.read(request.headers, "passkey");
      const sessionToken = await signInWithPasskey(dependencies, {
        passkeyToken,
        response: request.body.response,
        browser: readBrowser(request),
      });
      await finishSignIn(dependencies, reply, { sessionToken, before: findSession(request) });
      reply.header("set-cookie", cookies.presentRemoval("passkey"));
      return { kind: "signed-in" as const };
    },
  );
}

type ProofBody = { password?: string; code?: string; passkey?: Extract<Proof, { kind: "passkey" }>["response"] };

function addReauthentication(http: HttpServer, dependencies: SignInDependencies): void {
  http.post(
    "/reauthenticate",
    {
      schema: {
        operationId: "reauthenticate",
        summary: "Reauthenticate",
        description: `Send a passkey response to \`/sign-in/passkey/options\`, or your password. With two-factor
authentication, send a \`code\` of your authenticator app too. Without a password, send the code alone.`,
        tags,
        body: body({
          password: Type.Optional(passwordField),
          code: Type.Optional(codeField),
          passkey: Type.Optional(passkeyUseField),
        }),
        response: {
          200: freshSchema,
          ...consoleErrors("POST", ["wrong_credentials", "invalid_token", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      const passkeyToken = dependencies.cookies.read(request.headers, "passkey");
      const proof = parseProof(request.body, { passkeyToken, address: request.ip });
      const { token, freshUntil } = await reauthenticate(dependencies, getSession(request), proof);
      sendSessionCookie(dependencies.cookies, reply, token);
      return { fresh_until: freshUntil.toISOString() };
    },
  );
}

function parseProof(
  { password, code, passkey }: ProofBody,
  { passkeyToken, address }: { passkeyToken: string | null; address: string },
): Proof {
  const hasSecret = password !== undefined || code !== undefined;
  if (passkey === undefined && hasSecret) {
    return { kind: "secrets", password: password ?? null, code: code ?? null, address };
  }
  if (passkey !== undefined && !hasSecret) return { kind: "passkey", response: passkey, passkeyToken };
  throw new AppError(
    "missing_parameter",
    "Send either `passkey`, or `password` and, for two-factor authentication, `code`.",
    { param: "password" },
  );
}

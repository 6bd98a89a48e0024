import { timingSafeEqual } from "node:crypto";
import { isLoopbackUrl } from "../../../platform/config/load-settings.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { consoleErrors } from "../../../platform/http/console-edge.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { KeptMail } from "../../../platform/mail/mail-outbox.ts";
import type { SignInDependencies } from "./sign-in-dependencies.ts";
import { acceptedSchema, body, outboxSchema, tokenField } from "./sign-in-schema.ts";
import { limitLinks } from "./throttle.ts";
import { hashToken } from "./user/user-token.ts";

const tags = ["Site"];
const cookieMs = 30 * 24 * 60 * 60_000;

/**
 * Unsent mails, for trying out the site locally. They allow signing in as anyone, so they need a secret: proxies,
 * tunnels and other local programs reach this machine too.
 */
export function addOutboxRoutes(http: HttpServer, dependencies: SignInDependencies, outboxSecret: string): void {
  const { cookies, mailer, background, beginAttempt } = dependencies;
  http.post(
    "/outbox/open",
    {
      config: { access: "open" },
      schema: {
        operationId: "openOutbox",
        summary: "Open the outbox",
        description: "The secret is in the link printed at startup, and in the data folder.",
        tags,
        body: body({ secret: tokenField }),
        response: {
          200: acceptedSchema,
          ...consoleErrors("POST", ["not_found", "wrong_credentials", "too_many_attempts"]),
        },
      },
    },
    async (request, reply) => {
      requireOwnName(request.headers.host);
      const attempt = await beginAttempt(limitLinks(request.ip));
      if (!isSame(request.body.secret, outboxSecret))
        throw createUnknownReader("The outbox secret is wrong. Copy it from the link printed at startup.");
      await attempt.succeed();
      reply.header("set-cookie", cookies.present("outbox", outboxSecret, cookieMs));
      return { kind: "accepted" as const };
    },
  );
  http.get(
    "/outbox",
    {
      config: { access: "open" },
      schema: {
        operationId: "listOutbox",
        summary: "List the outbox",
        description: "Only for a site on a loopback address without a mail server. Requires the outbox secret.",
        tags,
        response: { 200: outboxSchema, ...consoleErrors("GET", ["not_found", "wrong_credentials"]) },
      },
    },
    async (request) => {
      requireOwnName(request.headers.host);
      if (!isSame(cookies.read(request.headers, "outbox") ?? "", outboxSecret)) {
        throw createUnknownReader("Open the outbox with the link that the gateway printed at startup.");
      }
      // Wait for mails that are still being composed.
      await background.settled();
      return { data: mailer.listKept().map(presentMail) };
    },
  );
}

/** DNS rebinding: a foreign host name that resolves to this machine is rejected. */
function requireOwnName(host: string | undefined): void {
  if (!isLoopbackUrl(`http://${host ?? ""}`)) throw new AppError("not_found", "There is no outbox here.");
}

function isSame(given: string, secret: string): boolean {
  return timingSafeEqual(hashToken(given), hashToken(secret));
}

function createUnknownReader(message: string): AppError {
  return new AppError("wrong_credentials", message, { param: "secret" });
}

function presentMail({ at, ...mail }: KeptMail) {
  return { ...mail, links: mail.text.match(/https?:\/\/\S+/g) ?? [], at: at.toISOString() };
}

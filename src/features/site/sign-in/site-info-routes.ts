import { isLoopbackUrl } from "../../../platform/config/load-settings.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { KeptMail } from "../../../platform/mail/create-mailer.ts";
import { consoleErrors, getSession } from "../console-edge.ts";
import { readSessionView } from "./read-session-view.ts";
import type { SignInRouteParts } from "./sign-in-route-parts.ts";
import { outboxSchema, sessionSchema, siteSchema } from "./sign-in-schema.ts";

const tags = ["Site"];

/** What a page needs to know before anything else: what this site offers, and who is looking at it. */
export function addSiteInfoRoutes(http: HttpServer, parts: SignInRouteParts): void {
  http.get(
    "/site",
    {
      config: { access: "open" },
      schema: {
        operationId: "getSite",
        summary: "What this site offers",
        tags,
        response: { 200: siteSchema, ...consoleErrors("GET") },
      },
    },
    async () => ({
      sign_up: parts.signUp,
      providers: parts.providers.map(({ id, name }) => ({ id, name })),
      mail: parts.mailer.kind,
      has_outbox: parts.hasOutbox,
      currency: parts.currency,
      base_url: parts.baseUrl,
      payments: parts.payments.kind,
      payment_amount_min: parts.payments.amountMin,
      payment_amount_max: parts.payments.amountMax,
    }),
  );
  http.get(
    "/session",
    {
      schema: {
        operationId: "getSession",
        summary: "Who is signed in",
        tags,
        response: { 200: sessionSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => readSessionView(parts.database, getSession(request)),
  );
  if (parts.hasOutbox) addOutbox(http, parts);
}

/** Mails that are not sent, for whoever tries the site out on their own machine. */
function addOutbox(http: HttpServer, { mailer, background }: SignInRouteParts): void {
  http.get(
    "/outbox",
    {
      config: { access: "open" },
      schema: {
        operationId: "listOutbox",
        summary: "The mails that were not sent",
        description: "Only where the site is on a loopback address and no mail server is set.",
        tags,
        response: { 200: outboxSchema, ...consoleErrors("GET", ["not_found"]) },
      },
    },
    async (request) => {
      // A page whose own name leads to this machine would be asking in the name of its own site.
      if (!isLoopbackUrl(`http://${request.headers.host ?? ""}`))
        throw new AppError("not_found", "There is no outbox here.");
      // A mail that somebody was promised is there when they look for it.
      await background.settled();
      return { data: mailer.listKept().map(presentMail) };
    },
  );
}

function presentMail({ at, ...mail }: KeptMail) {
  return { ...mail, links: mail.text.match(/https?:\/\/\S+/g) ?? [], at: at.toISOString() };
}

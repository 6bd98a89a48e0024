import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { consoleErrors, getSession } from "../console-edge.ts";
import { readSessionView } from "./session/read-session-view.ts";
import type { SignInRouteParts } from "./sign-in-route-parts.ts";
import { sessionSchema, siteSchema } from "./sign-in-schema.ts";

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
      has_outbox: parts.outboxSecret !== null,
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
}

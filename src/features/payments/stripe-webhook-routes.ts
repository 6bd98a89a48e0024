import type { HttpServer } from "../../platform/http/create-http-server.ts";

/** Stripe's events are a few kilobytes long. */
const bodyBytesMax = 256 * 1024;

/** The webhook for Stripe's events. Unauthenticated: only events with a valid signature have an effect. */
export async function addStripeWebhookRoute(
  http: HttpServer,
  { handle }: { handle(event: { body: Buffer; signature: string }): Promise<void> },
): Promise<void> {
  await http.register(async (stripe: HttpServer) => {
    // The signature covers the raw bytes, so the body must not be parsed first.
    stripe.removeContentTypeParser("application/json");
    stripe.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (_request, body, done) =>
      done(null, body),
    );
    stripe.post("/payments/stripe", { bodyLimit: bodyBytesMax, schema: { hide: true } }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      await handle({ body, signature: String(request.headers["stripe-signature"] ?? "") });
      reply.header("cache-control", "no-store");
      return { received: true };
    });
  });
}

import type { HttpServer } from "../../platform/http/create-http-server.ts";

/** Stripe's events have a few kilobytes. */
const bodyBytesMax = 256 * 1024;

type StripeListener = {
  /** Returns when everything that follows from the event is durable. */
  hear(event: { body: Buffer; signature: string }): Promise<void>;
};

/** Where Stripe tells of payments: open to everybody, and worth nothing without Stripe's signature. */
export async function addStripeWebhookRoute(http: HttpServer, { hear }: StripeListener): Promise<void> {
  await http.register(async (stripe: HttpServer) => {
    // The signature is of the bytes, so nobody may have read and written them before.
    stripe.removeContentTypeParser("application/json");
    stripe.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (_request, body, done) =>
      done(null, body),
    );
    stripe.post("/payments/stripe", { bodyLimit: bodyBytesMax, schema: { hide: true } }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      await hear({ body, signature: String(request.headers["stripe-signature"] ?? "") });
      reply.header("cache-control", "no-store");
      return { received: true };
    });
  });
}

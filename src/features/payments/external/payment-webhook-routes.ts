import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import type { SignedPaymentEvent } from "./handle-payment-event.ts";

const bodyBytesMax = 16 * 1024;

/** The webhook of other payment providers. Unauthenticated: only events with a valid signature have an effect. */
export async function addPaymentWebhookRoute(
  http: HttpServer,
  { handle }: { handle(event: SignedPaymentEvent): Promise<void> },
): Promise<void> {
  await http.register(async (payments: HttpServer) => {
    // The signature covers the raw bytes, so the body must not be parsed first.
    payments.removeContentTypeParser("application/json");
    payments.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (_request, body, done) =>
      done(null, body),
    );
    payments.post("/payments/events", { bodyLimit: bodyBytesMax, schema: { hide: true } }, async (request, reply) => {
      const read = (name: string): string => String(request.headers[name] ?? "");
      await handle({
        id: read("webhook-id"),
        timestamp: read("webhook-timestamp"),
        signature: read("webhook-signature"),
        body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      });
      reply.header("cache-control", "no-store");
      return { received: true };
    });
  });
}

import { createHmac } from "node:crypto";

/** Standard Webhooks headers, with one signature per secret; a receiver accepts the event if one matches. */
export function signEvent(
  { id, body, sentAt }: { id: string; body: string; sentAt: Date },
  secrets: readonly string[],
): Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(secret.indexOf("_") + 1), "base64");
    return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

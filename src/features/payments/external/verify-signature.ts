import { createHmac, timingSafeEqual } from "node:crypto";

const ageSecondsMax = 300;

type Signed = { id: string; timestamp: string; signature: string; body: Buffer };

/** Standard Webhooks: HMAC-SHA256 over id, time and body. Any one of the header's signatures suffices. */
export function verifySignature({ id, timestamp, signature, body }: Signed, secret: string, now: Date): boolean {
  if (id === "" || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > ageSecondsMax) return false;
  const key = Buffer.from(secret.slice(secret.indexOf("_") + 1), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return signature.split(" ").some((entry) => {
    const [version, text = ""] = entry.split(",");
    const given = Buffer.from(text, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

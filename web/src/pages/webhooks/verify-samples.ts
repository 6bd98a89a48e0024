const node = `import { createHmac, timingSafeEqual } from "node:crypto";

const toleranceSeconds = 300;

// \`body\` is the raw request text, before any parsing; \`secret\` is whsec_….
export function readEvent(body, headers, secret) {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSeconds)) throw new Error("The event is too old or from the future.");

  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(\`\${id}.\${timestamp}.\${body}\`).digest();
  // During a secret rotation there are two signatures; one match is enough.
  const isValid = String(headers["webhook-signature"]).split(" ").some((entry) => {
    const [version, text = ""] = entry.split(",");
    const given = Buffer.from(text, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isValid) throw new Error("The signature does not match.");
  return JSON.parse(body); // The same \`id\` may be delivered again: process it once.
}
`;

const python = `import base64
import hashlib
import hmac
import json
import time

TOLERANCE_SECONDS = 300


# \`body\` is the raw request bytes, before any parsing; \`secret\` is whsec_….
def read_event(body, headers, secret):
    event_id = headers["webhook-id"]
    timestamp = headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("The event is too old or from the future.")

    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # While a secret is being rotated there are two signatures; one match is enough.
    given = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(expected, each) for each in given):
        raise ValueError("The signature does not match.")
    return json.loads(body)  # The same id may come again: process it once.
`;

/** Signature verification with the language's standard library. */
export const verifySamples = [
  { id: "node", label: "Node.js", code: node },
  { id: "python", label: "Python", code: python },
] as const;

import { createHash, createHmac, createPublicKey, timingSafeEqual, verify, type webcrypto } from "node:crypto";

/**
 * How a vendor calls back when a job has changed. A callback is only a hint to poll now: nothing in it is believed, so
 * that a forged one does no harm, and a lost one costs only time.
 */
export type VendorHook = {
  /** The field with the address; dots separate nested objects. */
  field: string;
  /** Fields that go with it. */
  more?: Readonly<Record<string, unknown>>;
  /** The field with a secret of ours that the vendor signs with. */
  secretField?: string;
  /** Absent if the vendor does not sign. */
  signature?: HookSignature;
  /** A field of the first callback that the vendor wants back. */
  echoes?: string;
};

/**
 * | signature           | signed with                           |
 * |---------------------|---------------------------------------|
 * | `standard-webhooks` | the secret of the vendor's account    |
 * | `hex`               | a secret; the header is named         |
 * | `fal`               | ED25519, with keys that fal publishes |
 */
export type HookSignature = "standard-webhooks" | { hex: string } | "fal";

/** A callback as it arrived. */
export type HookDelivery = {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  now: Date;
};

/** What a signature is checked with. */
export type HookKeys = {
  /** `null` if there is none. */
  secret: string | null;
  /** The keys that a vendor publishes. */
  publicKeys: readonly webcrypto.JsonWebKey[];
};

const toleranceMs = 300_000;

/** Without a key nothing can be checked: the address alone then shows that the vendor was told it. */
export function isHookGenuine(
  signature: HookSignature,
  { headers, body, now }: HookDelivery,
  { secret, publicKeys }: HookKeys,
): boolean {
  const read = (name: string): string => {
    const value = headers[name];
    return typeof value === "string" ? value : "";
  };
  const isFresh = (seconds: string): boolean => Math.abs(Number(seconds) * 1000 - now.getTime()) <= toleranceMs;
  if (signature === "fal") {
    const [id, user, time, signed] = ["request-id", "user-id", "timestamp", "signature"].map((name) =>
      read(`x-fal-webhook-${name}`),
    );
    const message = [id, user, time, createHash("sha256").update(body).digest("hex")].join("\n");
    return isFresh(time ?? "") && publicKeys.some((key) => isSignedBy(key, message, signed ?? ""));
  }
  if (secret === null) return true;
  if (signature === "standard-webhooks") {
    const time = read("webhook-timestamp");
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const mac = createHmac("sha256", key)
      .update(`${read("webhook-id")}.${time}.`)
      .update(body)
      .digest("base64");
    const given = read("webhook-signature").split(" ");
    return isFresh(time) && given.some((one) => isSame(one, `v1,${mac}`));
  }
  const mac = createHmac("sha256", secret).update(body).digest("hex");
  return isSame(read(signature.hex).replace(/^sha256=/, ""), mac);
}

function isSignedBy(key: webcrypto.JsonWebKey, message: string, signed: string): boolean {
  try {
    return verify(null, Buffer.from(message), createPublicKey({ key, format: "jwk" }), Buffer.from(signed, "hex"));
  } catch {
    // A key of another kind.
    return false;
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

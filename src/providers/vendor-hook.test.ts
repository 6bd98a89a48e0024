import { createHash, createHmac, generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { type HookKeys, type HookSignature, isHookGenuine } from "./vendor-hook.ts";

const body = Buffer.from('{"id":"job-1","status":"succeeded"}');
const now = new Date("2026-11-18T12:00:00Z");
const seconds = String(now.getTime() / 1000);
const secret = `whsec_${Buffer.from("a secret of the account").toString("base64")}`;
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const other = generateKeyPairSync("ed25519").publicKey;

const standardMac = createHmac("sha256", "a secret of the account").update(`msg_1.${seconds}.`).update(body);
const hexMac = createHmac("sha256", "ours").update(body).digest("hex");
const falMessage = ["req", "user", seconds, createHash("sha256").update(body).digest("hex")].join("\n");

type Case = { signature: HookSignature; headers: Record<string, string>; keys: HookKeys };

const cases: Record<string, Case> = {
  "Standard Webhooks": {
    signature: "standard-webhooks",
    headers: {
      ...{ "webhook-id": "msg_1", "webhook-timestamp": seconds },
      "webhook-signature": `v1,b2xk v1,${standardMac.digest("base64")}`,
    },
    keys: { secret, publicKeys: [] },
  },
  "a hexadecimal HMAC": {
    signature: { hex: "x-bfl-signature" },
    headers: { "x-bfl-signature": `sha256=${hexMac}` },
    keys: { secret: "ours", publicKeys: [] },
  },
  "fal's keys": {
    signature: "fal",
    headers: {
      ...{ "x-fal-webhook-request-id": "req", "x-fal-webhook-user-id": "user", "x-fal-webhook-timestamp": seconds },
      "x-fal-webhook-signature": sign(null, Buffer.from(falMessage), privateKey).toString("hex"),
    },
    keys: { secret: null, publicKeys: [other.export({ format: "jwk" }), publicKey.export({ format: "jwk" })] },
  },
};

test.each(Object.entries(cases))(
  "%s: only the vendor's own callback is genuine, and only for five minutes",
  (_, one) => {
    const { signature, headers, keys } = one;
    const check = (changes: Partial<{ headers: Record<string, string>; body: Buffer; now: Date }> = {}): boolean =>
      isHookGenuine(signature, { headers, body, now, ...changes }, keys);
    expect(check()).toBe(true);
    expect(check({ body: Buffer.from("{}") })).toBe(false);
    expect(check({ headers: {} })).toBe(false);
    const isTimed = signature === "standard-webhooks" || signature === "fal";
    expect(check({ now: new Date(now.getTime() + 301_000) })).toBe(!isTimed);
  },
);

test("without a stored secret the address alone counts, but never without fal's keys", () => {
  const keys = { secret: null, publicKeys: [] };
  expect(isHookGenuine("standard-webhooks", { headers: {}, body, now }, keys)).toBe(true);
  expect(isHookGenuine("fal", { headers: cases["fal's keys"]?.headers ?? {}, body, now }, keys)).toBe(false);
});

import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import { asRecord, parseJson } from "../openai-compatible/json-value.ts";

/** A service account of Google Cloud, with the key that signs for it. */
export type ServiceAccount = { email: string; keyId: string; key: KeyObject; tokenUrl: string };

const scope = "https://www.googleapis.com/auth/cloud-platform";
const lifetimeSeconds = 3600;
const usualTokenUrl = "https://oauth2.googleapis.com/token";

/** The key file of a service account, as Google Cloud creates it; `null` if the text is none. */
export function parseServiceAccount(text: string): ServiceAccount | null {
  const {
    type,
    client_email: email,
    private_key: pem,
    private_key_id: keyId,
    token_uri: tokenUrl = usualTokenUrl,
  } = asRecord(parseJson(text)) ?? {};
  if (type !== "service_account" || typeof email !== "string" || typeof pem !== "string") return null;
  if (typeof tokenUrl !== "string" || !isTokenUrl(tokenUrl)) return null;
  try {
    return { email, keyId: typeof keyId === "string" ? keyId : "", key: createPrivateKey(pem), tokenUrl };
  } catch {
    // The key is cut or damaged.
    return null;
  }
}

/** A signed statement that Google exchanges for an access token. */
export function signTokenRequest({ email, keyId, key, tokenUrl }: ServiceAccount, now: Date): string {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const head = { alg: "RS256", typ: "JWT", kid: keyId };
  const claims = { iss: email, scope, aud: tokenUrl, iat: issuedAt, exp: issuedAt + lifetimeSeconds };
  const signed = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), key).toString("base64url")}`;
}

function isTokenUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === "https:" || url?.hostname === "127.0.0.1";
}

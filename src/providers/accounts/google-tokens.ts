import type { Clock } from "../../lib/clock.ts";
import { ProviderError } from "../contract.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import { createMediaClient, type WholeAnswer } from "../media-client.ts";
import { asRecord } from "../openai-compatible/json-value.ts";
import { createCredentialCache } from "./credential-cache.ts";
import { parseServiceAccount, signTokenRequest } from "./service-account.ts";

/** Access tokens of service accounts, which Google issues for an hour. */
export type GoogleTokens = {
  /** The token for a service account's key file. Concurrent calls share one request. */
  get(keyFile: string | null): Promise<string>;
  close(): Promise<void>;
};

type Token = { value: string; expiresAt: number };

const timeoutMs = 15_000;
const answerBytesMax = 64 * 1024;

export function createGoogleTokens({ clock }: { clock: Clock }): GoogleTokens {
  const cache = createCredentialCache({ clock, issue: (keyFile, signal) => issueToken(keyFile, { clock, signal }) });
  return {
    async get(keyFile) {
      if (keyFile === null) throw new ProviderError("key-refused", "The provider has no key file.");
      return await cache.get(keyFile);
    },
    close: () => cache.close(),
  };
}

async function issueToken(keyFile: string, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<Token> {
  const account = parseServiceAccount(keyFile);
  if (account === null) throw new ProviderError("key-refused", "The key is not the key file of a service account.");
  const now = clock.now();
  const { origin, pathname, search } = new URL(account.tokenUrl);
  const client = createMediaClient({
    ...{ origin, headers: {}, connectionsMax: 1, auth: { name: "authorization", prefix: "" } },
  });
  try {
    const answer = await client.ask({
      ...{ method: "POST", path: pathname + search, apiKey: null, timeoutMs, bytesMax: answerBytesMax, signal },
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: String(
        new URLSearchParams({
          grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
          assertion: signTokenRequest(account, now),
        }),
      ),
    });
    return readToken(answer, now);
  } finally {
    await client.close();
  }
}

function readToken({ status, headers, body }: WholeAnswer, now: Date): Token {
  const { access_token: value, expires_in: seconds, error, error_description: message } = asRecord(body) ?? {};
  if (status >= 300) {
    // OAuth's errors are a word and a description.
    const said = typeof error === "string" ? { error: { code: error, message } } : body;
    throw readVendorRefusal({ status, headers, body: said }, { now, findParam: () => null });
  }
  if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value) || typeof seconds !== "number") {
    throw new ProviderError("bad-answer", "The token endpoint's response has no token.", { detail: { status } });
  }
  return { value, expiresAt: now.getTime() + seconds * 1000 };
}

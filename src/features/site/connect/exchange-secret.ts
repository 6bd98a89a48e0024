import { createHash, timingSafeEqual } from "node:crypto";
import { invariant } from "../../../lib/invariant.ts";
import { inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../../platform/errors/error-table.ts";
import { type ApiKey, revokeApiKey } from "../../accounts/index.ts";
import { hashToken } from "../sign-in/user/user-token.ts";
import type { ConnectParts } from "./connect-parts.ts";
import type { ConnectRequest } from "./connect-request.ts";
import { lockRequestBySecret, updateDelivered, updatePolled } from "./connect-store.ts";
import { makeKey } from "./make-key.ts";

export type DeliveredKey = { apiKey: ApiKey; text: string };

/** What a program shows for its key; `client` and `redirectUri` only where it wants them compared. */
export type CodeExchange = {
  code: string;
  codeVerifier: string;
  client: string | undefined;
  redirectUri: string | undefined;
};

type Refusal = { kind: "refused"; code: ErrorCode; message: string };
type Outcome = { kind: "delivered"; key: DeliveredKey } | Refusal;

const pollSecondsMore = 5;
const pollSecondsMax = 60;
/** What one network hurries and another delays. */
const pollToleranceMs = 1000;

const unknownCode = refuse("invalid_grant", "The code is unknown, too old, or not this program's. Begin again.");
const usedCode = refuse("invalid_grant", "The code was used before. The key made from it works no more. Begin again.");

/** The key for the code that came to the program's callback, once. */
export async function exchangeCode(parts: ConnectParts, exchange: CodeExchange): Promise<DeliveredKey> {
  return await exchangeSecret(parts, { kind: "browser", secret: exchange.code }, async (tx, request) => {
    // Whoever has a code without its verifier learns nothing, and changes nothing.
    if (!isOwnCode(request, exchange)) return unknownCode;
    if (request.state === "delivered") return await takeBack(tx, request);
    return request.expiresAt <= parts.clock.now() ? unknownCode : await deliverKey(tx, request);
  });
}

/** The key for a device, once somebody has approved it. */
export async function pollDevice(parts: ConnectParts, deviceCode: string): Promise<DeliveredKey> {
  return await exchangeSecret(parts, { kind: "device", secret: deviceCode }, async (tx, request) => {
    const now = parts.clock.now();
    if (request.state === "delivered") return await takeBack(tx, request);
    if (request.state === "denied") return refuse("access_denied", "The person refused to connect this program.");
    if (request.expiresAt <= now) return refuse("expired_token", "The time for an answer is over. Begin again.");
    if (request.state === "approved") return await deliverKey(tx, request);
    return await notePoll(tx, request, now);
  });
}

/**
 * Finds the request of a secret, and lets one decide about it at a time. What a refusal has changed stays changed, so
 * it is thrown after the transaction.
 */
async function exchangeSecret(
  parts: ConnectParts,
  { kind, secret }: { kind: "browser" | "device"; secret: string },
  decide: (tx: ConnectParts, request: ConnectRequest) => Promise<Outcome>,
): Promise<DeliveredKey> {
  const outcome = await inTransaction(parts.database, async (database): Promise<Outcome> => {
    const request = await lockRequestBySecret(database, { kind, secretHash: hashToken(secret) });
    return request === null ? unknownCode : await decide({ ...parts, database }, request);
  });
  if (outcome.kind === "refused") throw new AppError(outcome.code, outcome.message);
  const { id, accountId, name } = outcome.key.apiKey;
  parts.logger.info({ account_id: accountId, key_id: id, name }, "a program fetched its key");
  return outcome.key;
}

async function deliverKey(tx: ConnectParts, request: ConnectRequest): Promise<Outcome> {
  const key = await makeKey(tx, request);
  await updateDelivered(tx.database, request.id, key.apiKey.id);
  return { kind: "delivered", key };
}

/** Two know the secret, or an answer got lost. We cannot tell who has the key, so nobody keeps it. */
async function takeBack(tx: ConnectParts, { id, keyId }: ConnectRequest): Promise<Outcome> {
  invariant(keyId !== null, `the request ${id} was delivered without a key`);
  await revokeApiKey(tx, keyId);
  tx.logger.warn({ key_id: keyId }, "a code was used twice; the key made from it was revoked");
  return usedCode;
}

/** RFC 8628: who comes too soon waits longer from then on. */
async function notePoll(tx: ConnectParts, { id, way }: ConnectRequest, now: Date): Promise<Outcome> {
  invariant(way.kind === "device", `the request ${id} is no device's`);
  const isTooSoon =
    way.polledAt !== null && now.getTime() < way.polledAt.getTime() + way.pollSeconds * 1000 - pollToleranceMs;
  const pollSeconds = isTooSoon ? Math.min(way.pollSeconds + pollSecondsMore, pollSecondsMax) : way.pollSeconds;
  await updatePolled(tx.database, id, { polledAt: now, pollSeconds });
  return isTooSoon
    ? refuse("slow_down", `Nobody has answered yet. Ask every ${pollSeconds} seconds.`)
    : refuse("authorization_pending", "Nobody has answered yet.");
}

function isOwnCode({ client, way }: ConnectRequest, exchange: CodeExchange): boolean {
  if (way.kind !== "browser" || way.codeChallenge === null) return false;
  const challenge = createHash("sha256").update(exchange.codeVerifier).digest();
  return (
    timingSafeEqual(challenge, Buffer.from(way.codeChallenge, "base64url")) &&
    (exchange.client ?? client) === client &&
    (exchange.redirectUri ?? way.redirectUri) === way.redirectUri
  );
}

function refuse(code: ErrorCode, message: string): Refusal {
  return { kind: "refused", code, message };
}

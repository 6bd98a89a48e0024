import { createHash, timingSafeEqual } from "node:crypto";
import { invariant } from "../../../lib/invariant.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../../platform/errors/error-table.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import { type ApiKey, type KeyDependencies, revokeApiKey } from "../../accounts/index.ts";
import { hashToken } from "../sign-in/user/user-token.ts";
import type { ConnectRequest } from "./connect-request.ts";
import { lockRequestBySecret, updateDelivered, updatePolled } from "./connect-store.ts";
import { makeKey } from "./make-key.ts";

export type ExchangeDependencies = KeyDependencies & { database: Database; logger: Logger };

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
export async function exchangeCode(dependencies: ExchangeDependencies, exchange: CodeExchange): Promise<DeliveredKey> {
  return await exchangeSecret(dependencies, { kind: "browser", secret: exchange.code }, async (tx, request) => {
    // Whoever has a code without its verifier learns nothing, and changes nothing.
    if (!isOwnCode(request, exchange)) return unknownCode;
    if (request.state === "delivered") return await takeBack(tx, dependencies, request);
    return request.expiresAt <= dependencies.clock.now() ? unknownCode : await deliverKey(tx, dependencies, request);
  });
}

/** The key for a device, once somebody has approved it. */
export async function pollDevice(dependencies: ExchangeDependencies, deviceCode: string): Promise<DeliveredKey> {
  return await exchangeSecret(dependencies, { kind: "device", secret: deviceCode }, async (tx, request) => {
    const now = dependencies.clock.now();
    if (request.state === "delivered") return await takeBack(tx, dependencies, request);
    if (request.state === "denied") return refuse("access_denied", "The person refused to connect this program.");
    if (request.expiresAt <= now) return refuse("expired_token", "The time for an answer is over. Begin again.");
    if (request.state === "approved") return await deliverKey(tx, dependencies, request);
    return await notePoll(tx, request, now);
  });
}

/**
 * Finds the request of a secret, and lets one decide about it at a time. What a refusal has changed stays changed, so
 * it is thrown after the transaction.
 */
async function exchangeSecret(
  { database, logger }: { database: Database; logger: Logger },
  { kind, secret }: { kind: "browser" | "device"; secret: string },
  decide: (tx: Database, request: ConnectRequest) => Promise<Outcome>,
): Promise<DeliveredKey> {
  const outcome = await inTransaction(database, async (tx): Promise<Outcome> => {
    const request = await lockRequestBySecret(tx, { kind, secretHash: hashToken(secret) });
    return request === null ? unknownCode : await decide(tx, request);
  });
  if (outcome.kind === "refused") throw new AppError(outcome.code, outcome.message);
  const { id, accountId, name } = outcome.key.apiKey;
  logger.info({ account_id: accountId, key_id: id, name }, "a program fetched its key");
  return outcome.key;
}

async function deliverKey(tx: Database, dependencies: KeyDependencies, request: ConnectRequest): Promise<Outcome> {
  const key = await makeKey(tx, dependencies, request);
  await updateDelivered(tx, request.id, key.apiKey.id);
  return { kind: "delivered", key };
}

/** Two know the secret, or an answer got lost. We cannot tell who has the key, so nobody keeps it. */
async function takeBack(
  tx: Database,
  { clock, logger }: ExchangeDependencies,
  { id, keyId }: ConnectRequest,
): Promise<Outcome> {
  invariant(keyId !== null, `the request ${id} was delivered without a key`);
  await revokeApiKey({ database: tx, clock }, keyId);
  logger.warn({ key_id: keyId }, "a code was used twice; the key made from it was revoked");
  return usedCode;
}

/** RFC 8628: who comes too soon waits longer from then on. */
async function notePoll(tx: Database, { id, way }: ConnectRequest, now: Date): Promise<Outcome> {
  invariant(way.kind === "device", `the request ${id} is no device's`);
  const isTooSoon =
    way.polledAt !== null && now.getTime() < way.polledAt.getTime() + way.pollSeconds * 1000 - pollToleranceMs;
  const pollSeconds = isTooSoon ? Math.min(way.pollSeconds + pollSecondsMore, pollSecondsMax) : way.pollSeconds;
  await updatePolled(tx, id, { polledAt: now, pollSeconds });
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

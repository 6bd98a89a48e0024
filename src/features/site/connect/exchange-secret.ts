import { createHash, timingSafeEqual } from "node:crypto";
import { invariant } from "../../../lib/invariant.ts";
import { type Database, inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../../platform/errors/error-table.ts";
import { type NewApiKey, revokeApiKey } from "../../accounts/index.ts";
import { hashToken } from "../sign-in/user/user-token.ts";
import type { SiteDependencies } from "../site-dependencies.ts";
import type { ConnectRequest } from "./connect-request.ts";
import { lockRequestBySecret, updateDelivered, updatePolled } from "./connect-store.ts";
import { issueKey } from "./issue-key.ts";

/** A program's credentials; `client` and `redirectUri` are compared only if sent. */
type CodeExchange = {
  code: string;
  codeVerifier: string;
  client: string | undefined;
  redirectUri: string | undefined;
};

type Refusal = { kind: "refused"; code: ErrorCode; message: string };
type Outcome = { kind: "delivered"; key: NewApiKey } | Refusal;

const pollSecondsMore = 5;
const pollSecondsMax = 60;
/** Network jitter between two polls. */
const pollToleranceMs = 1000;

const unknownCode = refuse("invalid_grant", "The code is invalid, expired or issued to another program. Start again.");
const usedCode = refuse("invalid_grant", "The code was already used, and its key is revoked. Start again.");

/** Exchanges the callback's code for the key, once. */
export async function exchangeCode(dependencies: SiteDependencies, exchange: CodeExchange): Promise<NewApiKey> {
  return await exchangeSecret(dependencies, { kind: "browser", secret: exchange.code }, async (tx, request) => {
    // A code without its verifier reveals and changes nothing.
    if (!isOwnCode(request, exchange)) return unknownCode;
    if (request.state === "delivered") return await takeBack(tx, dependencies, request);
    return request.expiresAt <= dependencies.clock.now() ? unknownCode : await deliverKey(tx, dependencies, request);
  });
}

/** The device's key, after approval. */
export async function pollDevice(dependencies: SiteDependencies, deviceCode: string): Promise<NewApiKey> {
  return await exchangeSecret(dependencies, { kind: "device", secret: deviceCode }, async (tx, request) => {
    const now = dependencies.clock.now();
    if (request.state === "delivered") return await takeBack(tx, dependencies, request);
    if (request.state === "denied") return refuse("access_denied", "The user denied this request.");
    if (request.expiresAt <= now) return refuse("expired_token", "The request expired. Start again.");
    if (request.state === "approved") return await deliverKey(tx, dependencies, request);
    return await notePoll(tx, request, now);
  });
}

/** Locks the request of a secret. A refusal is thrown after the transaction, so that its changes are committed. */
async function exchangeSecret(
  { database, logger }: SiteDependencies,
  { kind, secret }: { kind: "browser" | "device"; secret: string },
  decide: (tx: Database, request: ConnectRequest) => Promise<Outcome>,
): Promise<NewApiKey> {
  const outcome = await inTransaction(database, async (tx): Promise<Outcome> => {
    const request = await lockRequestBySecret(tx, { kind, secretHash: hashToken(secret) });
    return request === null ? unknownCode : await decide(tx, request);
  });
  if (outcome.kind === "refused") throw new AppError(outcome.code, outcome.message);
  const { id, accountId, name } = outcome.key.apiKey;
  logger.info({ account_id: accountId, key_id: id, name }, "key collected by a program");
  return outcome.key;
}

async function deliverKey(tx: Database, dependencies: SiteDependencies, request: ConnectRequest): Promise<Outcome> {
  const key = await issueKey(tx, dependencies, request);
  await updateDelivered(tx, request.id, key.apiKey.id);
  return { kind: "delivered", key };
}

/** Either two parties know the secret, or a response was lost. The key's holder is unknown, so it is revoked. */
async function takeBack(
  tx: Database,
  { clock, logger }: SiteDependencies,
  { id, keyId }: ConnectRequest,
): Promise<Outcome> {
  invariant(keyId !== null, `request ${id} was delivered without a key`);
  await revokeApiKey({ database: tx, clock }, keyId);
  logger.warn({ key_id: keyId }, "authorization code reused, key revoked");
  return usedCode;
}

/** RFC 8628: polling too fast increases the interval. */
async function notePoll(tx: Database, { id, way }: ConnectRequest, now: Date): Promise<Outcome> {
  invariant(way.kind === "device", `request ${id} is not a device's`);
  const isTooSoon =
    way.polledAt !== null && now.getTime() < way.polledAt.getTime() + way.pollSeconds * 1000 - pollToleranceMs;
  const pollSeconds = isTooSoon ? Math.min(way.pollSeconds + pollSecondsMore, pollSecondsMax) : way.pollSeconds;
  await updatePolled(tx, id, { polledAt: now, pollSeconds });
  return isTooSoon
    ? refuse("slow_down", `The request is still pending. Poll every ${pollSeconds} seconds.`)
    : refuse("authorization_pending", "The request is still pending.");
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

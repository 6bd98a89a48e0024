import type { Caller } from "../../lib/caller.ts";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { presentNetwork } from "../../lib/network.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { permitsScope } from "../../platform/http/endpoint-table.ts";
import type { ApiKey } from "./account.ts";
import { findApiKey, findConsoleKey, lockKeyName } from "./api-key-store.ts";
import { type CallerDirectory, type KnownKey, loadKnownKey } from "./caller-directory.ts";
import { type KeyDependencies, writeApiKey } from "./create-api-key.ts";
import { isWellFormedKey, type KeyedConnection } from "./key-text.ts";

export type CallAttempt = {
  /** The client's IP address. */
  address: string;
  endpointScope: string;
  /** The endpoint answers from memory, so a cached key is enough while the database is unavailable. */
  readsMemory?: boolean;
  now: Date;
  /** The connection that the key arrived on. */
  connection?: KeyedConnection;
};

type CallerDependencies = { callers: CallerDirectory; counters: Counters };

const challenge = { "www-authenticate": "Bearer" };

const bearerPattern = /^Bearer +(\S+) *$/i;

/** OpenAI's clients send the first header, Anthropic's the second or both. */
export type KeyHeaders = { authorization?: string | undefined; "x-api-key"?: string | string[] | undefined };

/**
 * The distinct keys in the headers. If one of two keys is ours, ignore the other: clients of several services send all
 * the keys they have.
 */
function listKeys({ authorization, "x-api-key": own }: KeyHeaders): string[] {
  const bearer = authorization === undefined ? undefined : bearerPattern.exec(authorization)?.[1];
  if (own === undefined || own === "" || own === bearer) return bearer === undefined ? [] : [bearer];
  const sent = bearer === undefined ? [String(own)] : [bearer, String(own)];
  const ours = sent.filter(isWellFormedKey);
  return ours.length === 0 ? sent.slice(0, 1) : ours;
}

/** Throws if the key is missing, unknown or may not make this call. */
export async function authenticateCaller(
  dependencies: CallerDependencies,
  headers: KeyHeaders,
  attempt: CallAttempt,
): Promise<Caller> {
  const [text, other] = listKeys(headers);
  if (text === undefined) {
    throw new AppError("missing_api_key", "Send your API key in the header `Authorization: Bearer <API_KEY>`.", {
      headers: challenge,
    });
  }
  if (other !== undefined) {
    throw new AppError(
      "invalid_api_key",
      "`Authorization` and `x-api-key` contain different API keys. Send one of them.",
      { headers: challenge },
    );
  }
  const known = dependencies.callers.recall(text, attempt.connection);
  return known === null ? await findCaller(dependencies, text, attempt) : admitKey(known, attempt);
}

async function findCaller(dependencies: CallerDependencies, text: string, attempt: CallAttempt): Promise<Caller> {
  const known = await findKey(dependencies, text, attempt);
  if (known === null) throw createInvalidKey();
  return admitKey(known, attempt);
}

function createInvalidKey(): AppError {
  return new AppError("invalid_api_key", "The API key is not valid. Check that you copied all of it.", {
    headers: challenge,
  });
}

/**
 * Returns `null` without a live key and never throws, for endpoints that answer with or without one.
 */
export async function recognizeCaller(
  dependencies: CallerDependencies,
  headers: KeyHeaders,
  { address, now }: Pick<CallAttempt, "address" | "now">,
): Promise<Caller | null> {
  const [text, other] = listKeys(headers);
  if (text === undefined || other !== undefined) return null;
  const known = dependencies.callers.recall(text);
  if (known !== null) return isLive(known, now) ? known.caller : null;
  // Database errors and rate limits matter only to endpoints that require a key.
  const found = await findKey(dependencies, text, { address }).catch(() => null);
  return found !== null && isLive(found, now) ? found.caller : null;
}

/** The key's caller if it is cached, even if the key was revoked. Never queries the database. */
export function recallCaller(callers: Pick<CallerDirectory, "recall">, headers: KeyHeaders): Caller | null {
  const [text, other] = listKeys(headers);
  return text === undefined || other !== undefined ? null : (callers.recall(text)?.caller ?? null);
}

function isLive({ revokedAt, expiresAt }: KnownKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

type Lookup = Pick<CallAttempt, "address" | "readsMemory">;

async function findKey(dependencies: CallerDependencies, text: string, lookup: Lookup): Promise<KnownKey | null> {
  return isWorthAsking(dependencies, text) ? await lookUpKey(dependencies, text, lookup) : null;
}

function isWorthAsking({ callers }: CallerDependencies, text: string): boolean {
  return isWellFormedKey(text) && !callers.isUnknown(text);
}

/** Bounds the queries that made-up keys can cause. Keys that exist are not counted. */
const unknownKeysPerMinute = 300;

/** Queries the database unless the client's network has sent too many unknown keys. */
async function lookUpKey(
  { callers, counters }: CallerDependencies,
  text: string,
  { address, readsMemory = false }: Lookup,
): Promise<KnownKey | null> {
  const rate = { key: `unknown-keys:${presentNetwork(address)}`, perMinute: unknownKeysPerMinute };
  // Count before the query: a burst of a thousand unknown keys must not become a thousand queries.
  const { isAllowed, rates } = await counters.take({ rates: [{ ...rate, cost: 1 }], leases: [] });
  if (!isAllowed) {
    const seconds = Math.max(1, Math.ceil((rates[0]?.retryAfterMs ?? 0) / 1000));
    throw new AppError("rate_limit_exceeded", `Too many unknown API keys from this address. Wait ${seconds} s.`, {
      headers: { "retry-after": String(seconds) },
    });
  }
  const known = await (readsMemory ? callers.findOrRecall(text) : callers.find(text));
  if (known !== null) await counters.correct({ ...rate, delta: -1 });
  return known;
}

/** Authenticates a console request by the account of its session. */
export async function authenticateSession(
  { database, clock, ids, randomBytes }: KeyDependencies & { database: Database },
  { accountId, ...attempt }: CallAttempt & { accountId: AccountId },
): Promise<Caller> {
  const consoleKey = await getConsoleKey(database, { clock, ids, randomBytes }, accountId);
  return admitKey(await loadKnownKey(database, consoleKey), attempt);
}

const consoleKeyName = "Console";

/** The key under which console calls are counted. Its secret is discarded when it is created. */
async function getConsoleKey(database: Database, dependencies: KeyDependencies, accountId: AccountId): Promise<ApiKey> {
  const known = await findConsoleKey(database, accountId);
  if (known !== null) return known;
  return await inTransaction(database, async (tx) => {
    await lockKeyName(tx, accountId, consoleKeyName);
    const made = await findConsoleKey(tx, accountId);
    if (made !== null) return made;
    const { apiKey } = await writeApiKey(tx, dependencies, { accountId, name: consoleKeyName, isConsole: true });
    return apiKey;
  });
}

/** Checks again that a key may make this call. Throws if not; returns when the key expires. */
export async function requireKeyAccess(database: Database, keyId: KeyId, attempt: CallAttempt): Promise<Date | null> {
  const apiKey = await findApiKey(database, keyId);
  if (apiKey === null) throw createInvalidKey();
  const known = await loadKnownKey(database, apiKey);
  admitKey(known, attempt);
  return known.expiresAt;
}

/** The caller of work that goes on without a request. Throws if the key was revoked or has expired. */
export async function getKeyCaller(database: Database, keyId: KeyId, now: Date): Promise<Caller> {
  const apiKey = await findApiKey(database, keyId);
  if (apiKey === null) throw createInvalidKey();
  const known = await loadKnownKey(database, apiKey);
  requireLive(known, now);
  requireUnsuspended(known);
  return known.caller;
}

function admitKey(known: KnownKey, attempt: CallAttempt): Caller {
  requireLive(known, attempt.now);
  requirePermission(known, attempt);
  return known.caller;
}

function requireLive({ caller: { keyId }, revokedAt, expiresAt }: KnownKey, now: Date): void {
  if (revokedAt !== null) {
    throw new AppError("revoked_api_key", "The API key was revoked.", { headers: challenge, detail: { keyId } });
  }
  if (expiresAt !== null && expiresAt <= now) {
    const message = `The API key expired at ${expiresAt.toISOString()}.`;
    throw new AppError("expired_api_key", message, { headers: challenge, detail: { keyId } });
  }
}

function requireUnsuspended({ caller: { keyId }, isSuspended }: KnownKey): void {
  if (!isSuspended) return;
  const message = "The account is suspended. Contact the service's operator.";
  throw new AppError("account_suspended", message, { detail: { keyId } });
}

function requirePermission(known: KnownKey, { address, endpointScope }: CallAttempt): void {
  const { keyId } = known.caller;
  requireUnsuspended(known);
  if (!known.allowsAddress(address)) {
    throw new AppError("key_not_permitted", "The API key is not allowed from this IP address.", { detail: { keyId } });
  }
  if (known.endpoints !== null && !permitsScope(known.endpoints, endpointScope)) {
    const message = `The API key is not allowed to use the ${endpointScope} endpoints.`;
    throw new AppError("key_not_permitted", message, { detail: { keyId } });
  }
}

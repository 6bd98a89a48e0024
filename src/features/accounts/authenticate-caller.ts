import type { Caller } from "../../lib/caller.ts";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import { presentNetwork } from "../../lib/network.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findApiKey } from "./api-key-store.ts";
import { type CallerDirectory, type KnownKey, loadKnownKey } from "./caller-directory.ts";
import { getConsoleKey } from "./console-key.ts";
import type { KeyDependencies } from "./create-api-key.ts";
import { isWellFormedKey } from "./key-text.ts";

export type CallAttempt = {
  /** Where the call comes from, and which scope its endpoint belongs to. */
  address: string;
  endpointScope: string;
  /** Whether it is answered from memory, to those who are remembered even if nobody can be asked about them. */
  readsMemory?: boolean;
  now: Date;
};

type CallerDependencies = { callers: CallerDirectory; counters: Counters };

const challenge = { "www-authenticate": "Bearer" };

const bearerPattern = /^Bearer +(\S+) *$/i;

/** The headers that a key can come by: OpenAI's clients send the first, Anthropic's the second, or both. */
export type KeyHeaders = { authorization?: string | undefined; "x-api-key"?: string | string[] | undefined };

/**
 * The keys that were sent: one, or none, or two that are not the same. Beside a key of ours, one to somebody else says
 * nothing: clients that know several services send what they have.
 */
function listKeys({ authorization, "x-api-key": own }: KeyHeaders): string[] {
  const bearer = authorization === undefined ? undefined : bearerPattern.exec(authorization)?.[1];
  if (own === undefined || own === "" || own === bearer) return bearer === undefined ? [] : [bearer];
  const sent = bearer === undefined ? [String(own)] : [bearer, String(own)];
  const ours = sent.filter(isWellFormedKey);
  return ours.length === 0 ? sent.slice(0, 1) : ours;
}

/** Who calls, told from the headers, or the error that says why they may not. */
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
      "`Authorization` and `x-api-key` have different API keys. Send one of them.",
      {
        headers: challenge,
      },
    );
  }
  const known = dependencies.callers.recall(text);
  return known === null ? await findCaller(dependencies, text, attempt) : admitKey(known, attempt);
}

async function findCaller(dependencies: CallerDependencies, text: string, attempt: CallAttempt): Promise<Caller> {
  const known = await findKey(dependencies, text, attempt);
  if (known === null) throw createInvalidKey();
  return admitKey(known, attempt);
}

function createInvalidKey(): AppError {
  return new AppError("invalid_api_key", "The API key is not valid. Check that it was copied whole.", {
    headers: challenge,
  });
}

/**
 * Whose key it is, for an answer that is given whether they may call or not; `null` where no living key was sent. Never
 * throws: an answer must not become another one because of it.
 */
export async function recognizeCaller(
  dependencies: CallerDependencies,
  headers: KeyHeaders,
  { address, now }: Pick<CallAttempt, "address" | "now">,
): Promise<Caller | null> {
  const [text, other] = listKeys(headers);
  if (text === undefined || other !== undefined) return null;
  const known = dependencies.callers.recall(text);
  if (known !== null) return isLiving(known, now) ? known.caller : null;
  // Where the database is away, or too many keys were tried, those are told who need one.
  const found = await findKey(dependencies, text, { address }).catch(() => null);
  return found !== null && isLiving(found, now) ? found.caller : null;
}

/** Whose key was sent, as far as that is remembered, whether it may still be used or not. Asks nobody. */
export function recallCaller(callers: Pick<CallerDirectory, "recall">, headers: KeyHeaders): Caller | null {
  const [text, other] = listKeys(headers);
  return text === undefined || other !== undefined ? null : (callers.recall(text)?.caller ?? null);
}

function isLiving({ revokedAt, expiresAt }: KnownKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

type Lookup = Pick<CallAttempt, "address" | "readsMemory">;

async function findKey(dependencies: CallerDependencies, text: string, lookup: Lookup): Promise<KnownKey | null> {
  return isWorthAsking(dependencies, text) ? await lookUpKey(dependencies, text, lookup) : null;
}

function isWorthAsking({ callers }: CallerDependencies, text: string): boolean {
  return isWellFormedKey(text) && !callers.isUnknown(text);
}

/** Keys that this process does not know, each of which costs a query; those that exist are not counted. */
const unknownKeysPerMinute = 300;

/** Asks the database for a key, unless too many from the same network were looked for in vain. */
async function lookUpKey(
  { callers, counters }: CallerDependencies,
  text: string,
  { address, readsMemory = false }: Lookup,
): Promise<KnownKey | null> {
  const rate = { key: `unknown-keys:${presentNetwork(address)}`, perMinute: unknownKeysPerMinute };
  // Counted before it is looked for, so that a thousand at once are not a thousand queries.
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

/** Who calls from the console, where a session tells the account. */
export async function authenticateSession(
  { database, clock, ids, randomBytes }: KeyDependencies & { database: Database },
  { accountId, ...attempt }: CallAttempt & { accountId: AccountId },
): Promise<Caller> {
  const consoleKey = await getConsoleKey(database, { clock, ids, randomBytes }, accountId);
  return admitKey(await loadKnownKey(database, consoleKey), attempt);
}

/** Whether a key that was let in may go on; throws when not. Answers when it expires. */
export async function requireKeyAccess(database: Database, keyId: KeyId, attempt: CallAttempt): Promise<Date | null> {
  const apiKey = await findApiKey(database, keyId);
  if (apiKey === null) throw createInvalidKey();
  const known = await loadKnownKey(database, apiKey);
  admitKey(known, attempt);
  return known.expiresAt;
}

function admitKey(known: KnownKey, attempt: CallAttempt): Caller {
  requireLiving(known, attempt.now);
  requirePermission(known, attempt);
  return known.caller;
}

function requireLiving({ caller: { keyId }, revokedAt, expiresAt }: KnownKey, now: Date): void {
  if (revokedAt !== null) {
    throw new AppError("revoked_api_key", "The API key was revoked.", { headers: challenge, detail: { keyId } });
  }
  if (expiresAt !== null && expiresAt <= now) {
    const message = `The API key expired at ${expiresAt.toISOString()}.`;
    throw new AppError("expired_api_key", message, { headers: challenge, detail: { keyId } });
  }
}

function requirePermission(known: KnownKey, { address, endpointScope }: CallAttempt): void {
  const { keyId } = known.caller;
  if (known.isSuspended) {
    const message = "The account is suspended. Contact the service's operator.";
    throw new AppError("account_suspended", message, { detail: { keyId } });
  }
  if (!known.allowsAddress(address)) {
    throw new AppError("key_not_permitted", "The API key may not be used from this address.", { detail: { keyId } });
  }
  if (known.endpoints !== null && !known.endpoints.has(endpointScope)) {
    const message = `The API key may not use the ${endpointScope} endpoints.`;
    throw new AppError("key_not_permitted", message, { detail: { keyId } });
  }
}

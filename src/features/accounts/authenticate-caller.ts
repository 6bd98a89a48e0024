import type { Caller } from "../../lib/caller.ts";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { Soon } from "../../lib/soon.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findApiKey } from "./api-key-store.ts";
import { type CallerDirectory, type KnownKey, loadKnownKey } from "./caller-directory.ts";
import { type ConsoleKeyParts, getConsoleKey } from "./console-key.ts";
import { isWellFormedKey } from "./key-text.ts";

export type CallAttempt = {
  /** Where the call comes from, and which scope its endpoint belongs to. */
  address: string;
  endpointScope: string;
  now: Date;
};

const challenge = { "www-authenticate": "Bearer" };

const bearerPattern = /^Bearer +(\S+) *$/i;

/** Who calls, told from the `Authorization` header, or the error that says why they may not. At once for a known key. */
export function authenticateCaller(
  directory: CallerDirectory,
  authorization: string | undefined,
  attempt: CallAttempt,
): Soon<Caller> {
  const text = bearerPattern.exec(authorization ?? "")?.[1];
  if (text === undefined) {
    throw new AppError("missing_api_key", "Send your API key in the header `Authorization: Bearer <API_KEY>`.", {
      headers: challenge,
    });
  }
  const known = directory.recall(text);
  return known === null ? findCaller(directory, text, attempt) : admitKey(known, attempt);
}

async function findCaller(directory: CallerDirectory, text: string, attempt: CallAttempt): Promise<Caller> {
  const known = isWellFormedKey(text) ? await directory.find(text) : null;
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
export function recognizeCaller(
  directory: CallerDirectory,
  authorization: string | undefined,
  now: Date,
): Soon<Caller | null> {
  const text = bearerPattern.exec(authorization ?? "")?.[1];
  if (text === undefined) return null;
  const known = directory.recall(text);
  if (known !== null) return isLiving(known, now) ? known.caller : null;
  if (!isWellFormedKey(text)) return null;
  return directory.find(text).then(
    (found) => (found !== null && isLiving(found, now) ? found.caller : null),
    // The database is away, which those are told who need it.
    () => null,
  );
}

function isLiving({ revokedAt, expiresAt }: KnownKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

/** Who calls from the console, where a session tells the account. */
export async function authenticateSession(
  parts: ConsoleKeyParts,
  { accountId, ...attempt }: CallAttempt & { accountId: AccountId },
): Promise<Caller> {
  return admitKey(await loadKnownKey(parts.database, await getConsoleKey(parts, accountId)), attempt);
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

import type { Caller } from "../../lib/caller.ts";
import type { AccountId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type CallerDirectory, type KnownKey, loadKnownKey } from "./caller-directory.ts";
import { type ConsoleKeyParts, getConsoleKey } from "./console-key.ts";
import { isWellFormedKey } from "./key-text.ts";

export type CallAttempt = {
  authorization: string | undefined;
  /** Where the call comes from, and which scope its endpoint belongs to. */
  address: string;
  endpointScope: string;
  now: Date;
};

const challenge = { "www-authenticate": "Bearer" };

/** Who calls, told from the `Authorization` header, or the error that says why they may not. */
export async function authenticateCaller(directory: CallerDirectory, attempt: CallAttempt): Promise<Caller> {
  const text = /^Bearer +(\S+) *$/i.exec(attempt.authorization ?? "")?.[1];
  if (text === undefined) {
    throw new AppError("missing_api_key", "Send your API key in the header `Authorization: Bearer <API_KEY>`.", {
      headers: challenge,
    });
  }
  // Only well-formed keys are remembered.
  const known = directory.recall(text) ?? (isWellFormedKey(text) ? await directory.find(text) : null);
  if (known === null) {
    throw new AppError("invalid_api_key", "The API key is not valid. Check that it was copied whole.", {
      headers: challenge,
    });
  }
  requireLiving(known, attempt.now);
  requirePermission(known, attempt);
  return known.caller;
}

/** Who calls from the console, where a session tells the account. */
export async function authenticateSession(
  parts: ConsoleKeyParts,
  { accountId, ...attempt }: Omit<CallAttempt, "authorization"> & { accountId: AccountId },
): Promise<Caller> {
  const known = await loadKnownKey(parts.database, await getConsoleKey(parts, accountId));
  requireLiving(known, attempt.now);
  requirePermission(known, attempt);
  return known.caller;
}

function requireLiving({ caller, revokedAt, expiresAt }: KnownKey, now: Date): void {
  const options = { headers: challenge, detail: { keyId: caller.keyId } };
  if (revokedAt !== null) throw new AppError("revoked_api_key", "The API key was revoked.", options);
  if (expiresAt !== null && expiresAt <= now) {
    throw new AppError("expired_api_key", `The API key expired at ${expiresAt.toISOString()}.`, options);
  }
}

function requirePermission(known: KnownKey, { address, endpointScope }: Omit<CallAttempt, "authorization">): void {
  const options = { detail: { keyId: known.caller.keyId } };
  if (known.isSuspended) {
    throw new AppError("account_suspended", "The account is suspended. Contact the service's operator.", options);
  }
  if (!known.allowsAddress(address)) {
    throw new AppError("key_not_permitted", "The API key may not be used from this address.", options);
  }
  if (known.endpoints !== null && !known.endpoints.has(endpointScope)) {
    throw new AppError("key_not_permitted", `The API key may not use the ${endpointScope} endpoints.`, options);
  }
}

import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { findAccountSecret, insertAccountSecret, updateAccountSecret } from "./account-secret-store.ts";
import type { SealedSecrets } from "./delivery-queue-store.ts";
import type { SecretBox } from "./secret-box.ts";

type SecretParts = { database: Database; clock: Clock; secretBox: SecretBox };

/** What signs events to callback URLs: as its owner sees it. */
export type AccountSecret = { text: string; previousUntil: Date | null };

/** How long the secret before a new one signs too, so that receivers can change theirs without a gap. */
const overlapMs = 24 * 60 * 60 * 1000;

export function decideOverlapEnd(now: Date): Date {
  return new Date(now.getTime() + overlapMs);
}

/** The account's own secret, sealed; made when it is first needed. */
export async function ensureAccountSecret(parts: SecretParts, accountId: AccountId): Promise<SealedSecrets> {
  const known = await findAccountSecret(parts.database, accountId);
  if (known !== null) return known;
  const { sealed } = parts.secretBox.make(accountId);
  await insertAccountSecret(parts.database, { accountId, sealed, now: parts.clock.now() });
  const made = await findAccountSecret(parts.database, accountId);
  invariant(made !== null, `account ${accountId} has no webhook secret`);
  return made;
}

export async function getAccountSecret(parts: SecretParts, accountId: AccountId): Promise<AccountSecret> {
  const { current, previousUntil } = await ensureAccountSecret(parts, accountId);
  const isPreviousValid = previousUntil !== null && previousUntil > parts.clock.now();
  return {
    text: parts.secretBox.open(accountId, current),
    previousUntil: isPreviousValid ? previousUntil : null,
  };
}

export async function rotateAccountSecret(parts: SecretParts, accountId: AccountId): Promise<AccountSecret> {
  await ensureAccountSecret(parts, accountId);
  const { text, sealed } = parts.secretBox.make(accountId);
  const previousUntil = decideOverlapEnd(parts.clock.now());
  await updateAccountSecret(parts.database, { accountId, sealed, previousUntil });
  return { text, previousUntil };
}

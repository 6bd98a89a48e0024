import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import type { Database } from "../../platform/database/database.ts";
import { findAccountSecret, insertAccountSecret, updateAccountSecret } from "./account-secret-store.ts";
import type { SealedSecrets } from "./delivery-queue-store.ts";
import type { SecretBox } from "./secret-box.ts";

export type SecretDependencies = { database: Database; clock: Clock; secretBox: SecretBox };

/** The secret that signs events to callback URLs, as the owner sees it. */
export type AccountSecret = { text: string; previousUntil: Date | null };

/** How long the previous secret still signs, so that receivers can switch without a gap. */
const overlapMs = 24 * 60 * 60 * 1000;

export function decideOverlapEnd(now: Date): Date {
  return new Date(now.getTime() + overlapMs);
}

/** The account's encrypted secret, created on first use. */
export async function ensureAccountSecret(
  { database, clock, secretBox }: SecretDependencies,
  accountId: AccountId,
): Promise<SealedSecrets> {
  const known = await findAccountSecret(database, accountId);
  if (known !== null) return known;
  const { sealed } = secretBox.make(accountId);
  await insertAccountSecret(database, { accountId, sealed, now: clock.now() });
  const made = await findAccountSecret(database, accountId);
  invariant(made !== null, `account ${accountId} has no webhook secret`);
  return made;
}

export async function getAccountSecret(dependencies: SecretDependencies, accountId: AccountId): Promise<AccountSecret> {
  const { current, previousUntil } = await ensureAccountSecret(dependencies, accountId);
  const isPreviousValid = previousUntil !== null && previousUntil > dependencies.clock.now();
  return {
    text: dependencies.secretBox.open(accountId, current),
    previousUntil: isPreviousValid ? previousUntil : null,
  };
}

export async function rotateAccountSecret(
  dependencies: SecretDependencies,
  accountId: AccountId,
): Promise<AccountSecret> {
  await ensureAccountSecret(dependencies, accountId);
  const { text, sealed } = dependencies.secretBox.make(accountId);
  const previousUntil = decideOverlapEnd(dependencies.clock.now());
  await updateAccountSecret(dependencies.database, { accountId, sealed, previousUntil });
  return { text, previousUntil };
}

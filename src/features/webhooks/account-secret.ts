import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { findAccountSecret, insertAccountSecret, updateAccountSecret } from "./account-secret-store.ts";
import type { SealedSecrets } from "./delivery-queue-store.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";

/** The secret that signs events to callback URLs, as the owner sees it. */
export type AccountSecret = { text: string; previousUntil: Date | null };

/** How long the previous secret still signs, so that receivers can switch without a gap. */
const overlapMs = 24 * 60 * 60 * 1000;

export function decideOverlapEnd(now: Date): Date {
  return new Date(now.getTime() + overlapMs);
}

/** The account's encrypted secret, created on first use. */
export async function ensureAccountSecret(
  { database, clock, secretBox }: WebhookDependencies,
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

export async function getAccountSecret(
  dependencies: WebhookDependencies,
  accountId: AccountId,
): Promise<AccountSecret> {
  const { current, previousUntil } = await ensureAccountSecret(dependencies, accountId);
  const isPreviousValid = previousUntil !== null && previousUntil > dependencies.clock.now();
  return {
    text: dependencies.secretBox.open(accountId, current),
    previousUntil: isPreviousValid ? previousUntil : null,
  };
}

export async function rotateAccountSecret(
  dependencies: WebhookDependencies,
  accountId: AccountId,
): Promise<AccountSecret> {
  const { database, clock, secretBox } = dependencies;
  await ensureAccountSecret(dependencies, accountId);
  const { text, sealed } = secretBox.make(accountId);
  const previousUntil = decideOverlapEnd(clock.now());
  await updateAccountSecret(database, { accountId, sealed, previousUntil });
  return { text, previousUntil };
}

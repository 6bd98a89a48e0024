import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { SealedSecrets } from "./delivery-queue-store.ts";

export async function findAccountSecret(database: Database, accountId: AccountId): Promise<SealedSecrets | null> {
  const row = await database
    .selectFrom("account_webhook_secrets")
    .select(["sealed_secret", "sealed_previous_secret", "previous_secret_until"])
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { sealed_secret: current, sealed_previous_secret: previous, previous_secret_until: previousUntil } = row;
  return { current, previous, previousUntil };
}

/** Ignores a conflict: of concurrent first secrets, one is stored. */
export async function insertAccountSecret(
  database: Database,
  secret: { accountId: AccountId; sealed: Buffer; now: Date },
): Promise<void> {
  await database
    .insertInto("account_webhook_secrets")
    .values({ account_id: secret.accountId, sealed_secret: secret.sealed, created_at: secret.now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Keeps the current secret as the previous one. */
export async function updateAccountSecret(
  database: Database,
  secret: { accountId: AccountId; sealed: Buffer; previousUntil: Date },
): Promise<void> {
  await database
    .updateTable("account_webhook_secrets")
    .set(({ ref }) => ({
      sealed_previous_secret: ref("sealed_secret"),
      previous_secret_until: secret.previousUntil,
      sealed_secret: secret.sealed,
    }))
    .where("account_id", "=", secret.accountId)
    .execute();
}

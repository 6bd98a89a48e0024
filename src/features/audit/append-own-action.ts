import type { SiteSession } from "../../lib/console-session.ts";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { AuditActor, AuditFacts } from "./audit-entry.ts";
import { appendAudit } from "./audit-store.ts";

/** An account's owner in a browser, or a program with one of the account's keys. */
export type OwnActor = Pick<SiteSession, "accountId" | "userId" | "from">;
type KeyActor = { accountId: AccountId; keyId: KeyId; from: SiteSession["from"] };

type OwnAction = { action: string; subject?: string | null; before?: AuditFacts | null; after?: AuditFacts | null };

/**
 * Appends what an account's owner did. People are named by their id, so that deleting a person's data leaves the chain whole.
 * Call it last in the transaction of the change.
 */
export async function appendOwnAction(
  tx: Database,
  owner: OwnActor | KeyActor,
  { action, subject = null, before = null, after = null }: OwnAction,
): Promise<void> {
  const id = "userId" in owner ? owner.userId : owner.keyId;
  const actor: AuditActor = { kind: "userId" in owner ? "user" : "key", id, name: id };
  await appendAudit(tx, {
    ...{ actor, action, subject, before, after, reason: null, accountId: owner.accountId },
    ...{ address: owner.from?.address ?? null, requestId: owner.from?.requestId ?? null },
  });
}

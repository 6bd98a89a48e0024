/**
 * The audit log: what operators and account owners did, with the facts before and after.
 *
 * Promises: an entry commits together with its change. Entries are never removed, and never changed otherwise, and each contains the hash of
 * the one before, so that `verifyAudit` finds a changed, removed or inserted row. Numbers are gapless, in the order of
 * commits. Entries contain no secrets. The texts of an entry can be blanked when a person's data is erased: the chain covers
 * their salted digests.
 */
export { appendOwnAction, type OwnActor } from "./append-own-action.ts";
export {
  type AuditActor,
  type AuditEntry,
  type AuditFilter,
  actorKinds,
  everyEntry,
  type NewAuditEntry,
} from "./audit-entry.ts";
export { appendAudit, blankPerson, listActivity, listAudit, listAuditForward } from "./audit-store.ts";
export { type AuditHead, verifyAudit } from "./verify-audit.ts";

/**
 * The audit log: what operators and account owners did, with the facts before and after.
 *
 * Promises: an entry commits together with its change. Entries are never changed or removed, and each contains the hash of
 * the one before, so that `verifyAudit` finds a changed, removed or inserted row. Numbers are gapless, in the order of
 * commits. Entries contain no secrets.
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
export { appendAudit, listActivity, listAudit, listAuditForward } from "./audit-store.ts";
export { type AuditHead, verifyAudit } from "./verify-audit.ts";

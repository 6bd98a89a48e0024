import { hash } from "node:crypto";
import type { Database } from "../../platform/database/database.ts";
import { checkChain, findAuditEntry } from "./audit-store.ts";

/** An entry's number and hash, noted outside of the database. */
export type AuditHead = { number: bigint; hash: string };

export type AuditVerdict = {
  entries: number;
  /** The first fault; `null` if the chain is whole. */
  fault: { kind: "changed"; number: bigint } | { kind: "cut-off"; number: bigint } | null;
  /** The newest entry. Note it elsewhere: only that shows whether the newest entries were removed later. */
  head: AuditHead | null;
};

const portionEntries = 10_000;
/** What the first entry follows. */
const beginning = hash("sha256", "", "hex");

/** Recomputes the whole chain, in portions. `expected` is a head noted earlier. */
export async function verifyAudit(database: Database, expected: AuditHead | null = null): Promise<AuditVerdict> {
  let entries = 0;
  let head: AuditHead | null = null;
  let blanked = { found: 0, recorded: 0, first: null as bigint | null };
  for (;;) {
    const { number: after, hash: previousHash }: AuditHead = head ?? { number: 0n, hash: beginning };
    const portion = await checkChain(database, { after, previousHash, limit: portionEntries });
    entries += portion.entries;
    if (portion.brokenAt !== null) return { entries, fault: { kind: "changed", number: portion.brokenAt }, head };
    head = portion.last ?? head;
    blanked = {
      found: blanked.found + portion.blanked.found,
      recorded: blanked.recorded + portion.blanked.recorded,
      first: blanked.first ?? portion.blanked.first,
    };
    if (portion.entries < portionEntries) break;
  }
  // Only this count shows whether an erasure blanked an old entry, or an attacker.
  if (blanked.found > blanked.recorded && blanked.first !== null) {
    return { entries, fault: { kind: "changed", number: blanked.first }, head };
  }
  if (expected === null) return { entries, fault: null, head };
  const noted = await findAuditEntry(database, expected.number);
  const isThere = noted !== null && noted.hash === expected.hash;
  return { entries, fault: isThere ? null : { kind: "cut-off", number: expected.number }, head };
}

import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { findTerms, insertTerms } from "./document-store.ts";
import { parseTerms } from "./parse-terms.ts";

/** Puts a file of terms in force for later documents. Those that were issued stay as they are. */
export async function applyTerms(
  { database, clock }: { database: Database; clock: Clock },
  { source, actor }: { source: string; actor: string },
): Promise<{ version: number; isNew: boolean }> {
  const terms = parseTerms(source);
  return await database.transaction().execute(async (tx) => {
    const known = await findTerms(tx);
    if (known !== null && isDeepStrictEqual(known.terms, terms)) return { version: known.version, isNew: false };
    // Of two operators at once, the second one's insert fails: the version is unique.
    const version = (known?.version ?? 0) + 1;
    await insertTerms(tx, { version, terms, actor, appliedAt: clock.now() });
    return { version, isNew: true };
  });
}

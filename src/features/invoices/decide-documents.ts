import { type Nano, nano } from "../../lib/money.ts";
import type { IssuedDocument } from "./billing-document.ts";

/** A refund or dispute, and how much of the payment it takes back at present. */
export type Reversal = { id: string; kind: "refund" | "dispute"; owed: Nano };

/** A document that is missing: the change since the last one. */
export type MissingDocument =
  | { kind: "invoice"; reversal: null; amount: Nano }
  /** Corrects the invoice. */
  | { kind: "credit_note"; reversal: Reversal; amount: Nano }
  /** The refund failed or the dispute was won: takes a credit note back. */
  | { kind: "invoice"; reversal: Reversal; amount: Nano };

type Issued = Pick<IssuedDocument, "kind" | "total" | "reversalId">;

/**
 * The documents that a payment lacks. Depends only on what was issued and on the payment's present state, so events may be
 * repeated, reordered and concurrent.
 */
export function decideDocuments(
  issued: readonly Issued[],
  { amount, reversals, mayBegin }: { amount: Nano; reversals: readonly Reversal[]; mayBegin: boolean },
): MissingDocument[] {
  const hasInvoice = issued.some(({ kind, reversalId }) => kind === "invoice" && reversalId === null);
  if (!hasInvoice && !mayBegin) return [];
  const first: MissingDocument[] = hasInvoice ? [] : [{ kind: "invoice", reversal: null, amount }];
  const corrections = reversals.map((reversal): MissingDocument | null => {
    const missing = reversal.owed - sumCredited(issued, reversal.id);
    if (missing > 0n) return { kind: "credit_note", reversal, amount: nano(missing) };
    return missing < 0n ? { kind: "invoice", reversal, amount: nano(-missing) } : null;
  });
  // Credit that comes back first: what is credited of a payment never exceeds it.
  const found = corrections.filter((correction) => correction !== null);
  return [
    ...first,
    ...found.filter(({ kind }) => kind === "invoice"),
    ...found.filter(({ kind }) => kind !== "invoice"),
  ];
}

/** What credit notes have credited for a refund or dispute, less what was taken back. */
function sumCredited(issued: readonly Issued[], reversalId: string): bigint {
  return issued
    .filter((document) => document.reversalId === reversalId)
    .reduce((sum, { kind, total }) => (kind === "credit_note" ? sum + total : sum - total), 0n);
}

/** The part of a payment that its credit notes have credited. */
export function sumAllCredited(issued: readonly Issued[]): bigint {
  return issued
    .filter(({ reversalId }) => reversalId !== null)
    .reduce((sum, { kind, total }) => (kind === "credit_note" ? sum + total : sum - total), 0n);
}

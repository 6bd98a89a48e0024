import fc from "fast-check";
import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import { decideDocuments, type MissingDocument, sumAllCredited } from "./decide-documents.ts";

type Issued = Parameters<typeof decideDocuments>[0][number];

const toIssued = ({ kind, amount, reversal }: MissingDocument): Issued => ({
  kind,
  total: amount,
  reversalId: reversal?.id ?? null,
});

const amount = nano(100n);

test("a payment has one invoice, and nothing before the first terms", () => {
  const paid = { amount, reversals: [], mayBegin: true };
  const first = decideDocuments([], paid);
  expect(first).toEqual([{ kind: "invoice", reversal: null, amount }]);
  expect(decideDocuments(first.map(toIssued), paid)).toEqual([]);
  const refund = { id: "re_1", kind: "refund" as const, owed: nano(40n) };
  expect(decideDocuments([], { amount, reversals: [refund], mayBegin: false })).toEqual([]);
});

test("a refund that fails takes its credit note back", () => {
  const begun = { id: "re_1", kind: "refund" as const, owed: nano(40n) };
  const issued = decideDocuments([], { amount, reversals: [begun], mayBegin: true });
  expect(issued.map(({ kind }) => kind)).toEqual(["invoice", "credit_note"]);
  const failed = { ...begun, owed: nano(0n) };
  expect(decideDocuments(issued.map(toIssued), { amount, reversals: [failed], mayBegin: true })).toEqual([
    { kind: "invoice", reversal: failed, amount: 40n },
  ]);
});

test("however refunds and disputes change, documents sum to what was paid and not reversed", () => {
  const share = fc.bigInt({ min: 0n, max: 50n });
  fc.assert(
    fc.property(fc.array(fc.tuple(share, share), { maxLength: 12 }), (states) => {
      let issued: Issued[] = [];
      for (const [refund, dispute] of states) {
        const reversals = [
          { id: "re_1", kind: "refund" as const, owed: nano(refund) },
          { id: "dp_1", kind: "dispute" as const, owed: nano(dispute) },
        ];
        for (const missing of decideDocuments(issued, { amount, reversals, mayBegin: true })) {
          issued = [...issued, toIssued(missing)];
          expect(missing.amount).toBeGreaterThan(0n);
          expect(sumAllCredited(issued)).toBeLessThanOrEqual(amount);
          expect(sumAllCredited(issued)).toBeGreaterThanOrEqual(0n);
        }
        expect(sumAllCredited(issued)).toBe(refund + dispute);
        expect(decideDocuments(issued, { amount, reversals, mayBegin: true })).toEqual([]);
      }
    }),
  );
});

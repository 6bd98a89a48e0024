import fc from "fast-check";
import { expect, test } from "vitest";
import { decideShares, mergeReversal, type Reversal } from "./reversal.ts";

const paid = { state: "paid", amountMinor: 2000n } as const;

const statuses = {
  refund: ["requires_action", "pending", "succeeded", "failed", "canceled"],
  dispute: ["warning_needs_response", "needs_response", "under_review", "lost", "won", "prevented"],
} as const;

const reversal = fc.constantFrom("refund" as const, "dispute" as const).chain((kind) =>
  fc.record({
    id: fc.constantFrom("1", "2", "3").map((number) => `${kind}_${number}`),
    kind: fc.constant(kind),
    status: fc.constantFrom<string>(...statuses[kind]),
    amountMinor: fc.bigInt({ min: 0n, max: 2500n }),
    reason: fc.constant(null),
  }),
);

function mergeAll(reported: readonly Reversal[]): Reversal[] {
  const known = new Map<string, Reversal>();
  for (const one of reported) {
    const merged = mergeReversal(known.get(one.id) ?? null, one);
    if (merged !== null) known.set(one.id, merged);
  }
  return [...known.values()];
}

function sumOwed(reversals: readonly Reversal[]): bigint {
  return decideShares(paid, reversals).reduce((sum, { owedMinor }) => sum + owedMinor, 0n);
}

test("repeated and reordered events claw back the same amount, never more than the payment", () => {
  const reported = fc.array(reversal, { maxLength: 12 });
  const orders = reported.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray([...list, ...list], { minLength: list.length * 2 })),
  );
  fc.assert(
    fc.property(orders, ([list, shuffled]) => {
      const owed = sumOwed(mergeAll(list));
      expect(sumOwed(mergeAll(shuffled))).toBe(owed);
      expect(owed >= 0n && owed <= paid.amountMinor).toBe(true);
      const shares = decideShares(paid, mergeAll(list));
      for (const { reversal: one, owedMinor } of shares) expect(owedMinor <= one.amountMinor).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

const histories: [what: string, history: [string, ...string[]], kind: Reversal["kind"], owed: bigint][] = [
  ["a pending refund", ["pending"], "refund", 700n],
  ["a successful refund", ["pending", "succeeded"], "refund", 700n],
  ["a refund that failed after it succeeded", ["succeeded", "failed", "pending"], "refund", 0n],
  ["an inquiry", ["warning_needs_response", "warning_closed"], "dispute", 0n],
  ["an inquiry that became a dispute", ["needs_response", "warning_under_review"], "dispute", 700n],
  ["a lost dispute", ["needs_response", "lost", "under_review"], "dispute", 700n],
  ["a won dispute", ["won", "needs_response"], "dispute", 0n],
  ["an unknown status", ["needs_response", "constructor"], "dispute", 700n],
];

test.each(histories)("%s: %j", (_, history, kind, owed) => {
  expect(sumOwed(mergeAll(history.map((status) => ({ id: "x", kind, status, amountMinor: 700n, reason: null }))))).toBe(
    owed,
  );
});

test("an uncredited payment is not clawed back", () => {
  const reversals = mergeAll([{ id: "x", kind: "refund", status: "succeeded", amountMinor: 700n, reason: null }]);
  for (const checkout of [
    { ...paid, state: "mismatched" as const },
    { ...paid, state: "open" as const },
  ]) {
    expect(decideShares(checkout, reversals)).toMatchObject([{ owedMinor: 0n }]);
  }
});

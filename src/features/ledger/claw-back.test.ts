import fc from "fast-check";
import { expect, test } from "vitest";
import { decideClawback } from "./claw-back.ts";

const amount = fc.bigInt({ min: 0n, max: 30n });

test("takes at most the available cash and the debt, and leaves no cash while there is debt", () => {
  const known = fc.record({ taken: amount, waived: amount });
  fc.assert(
    fc.property(known, fc.record({ owed: amount, available: amount }), (before, { owed, available }) => {
      const { taken, waived } = decideClawback(before, { owed, available });
      const debt = owed - taken - waived;
      expect(taken >= 0n && waived >= 0n && debt >= 0n).toBe(true);
      expect(waived <= before.waived).toBe(true);
      expect(taken - before.taken <= available).toBe(true);
      if (debt > 0n) expect(taken).toBe(before.taken + available);
      if (taken < before.taken) expect(taken).toBe(owed);
    }),
  );
});

test.each([
  [
    "everything, if the cash suffices",
    { taken: 0n, waived: 0n },
    { owed: 20n, available: 25n },
    { taken: 20n, waived: 0n },
  ],
  [
    "the available cash, if it does not suffice",
    { taken: 0n, waived: 0n },
    { owed: 20n, available: 5n },
    { taken: 5n, waived: 0n },
  ],
  ["cash that arrives later", { taken: 5n, waived: 0n }, { owed: 20n, available: 7n }, { taken: 12n, waived: 0n }],
  ["nothing that was waived", { taken: 5n, waived: 15n }, { owed: 20n, available: 9n }, { taken: 5n, waived: 15n }],
  ["nothing more if less is owed", { taken: 5n, waived: 0n }, { owed: 6n, available: 0n }, { taken: 5n, waived: 0n }],
  [
    "less once less is owed, and returns the rest",
    { taken: 12n, waived: 3n },
    { owed: 5n, available: 0n },
    { taken: 5n, waived: 0n },
  ],
])("takes %s", (_, before, now, after) => {
  expect(decideClawback(before, now)).toEqual(after);
});

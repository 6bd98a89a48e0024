import fc from "fast-check";
import { expect, test } from "vitest";
import { decideClawback } from "./claw-back.ts";

const amount = fc.bigInt({ min: 0n, max: 30n });

test("never takes what is not there or not owed, and leaves no cash while something is owed", () => {
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
    "all of it, where it is there",
    { taken: 0n, waived: 0n },
    { owed: 20n, available: 25n },
    { taken: 20n, waived: 0n },
  ],
  [
    "what is there, where it is less",
    { taken: 0n, waived: 0n },
    { owed: 20n, available: 5n },
    { taken: 5n, waived: 0n },
  ],
  ["what comes later", { taken: 5n, waived: 0n }, { owed: 20n, available: 7n }, { taken: 12n, waived: 0n }],
  ["nothing of what was waived", { taken: 5n, waived: 15n }, { owed: 20n, available: 9n }, { taken: 5n, waived: 15n }],
  [
    "nothing more where less is owed",
    { taken: 5n, waived: 0n },
    { owed: 6n, available: 0n },
    { taken: 5n, waived: 0n },
  ],
  [
    "back what is not owed any more",
    { taken: 12n, waived: 3n },
    { owed: 5n, available: 0n },
    { taken: 5n, waived: 0n },
  ],
])("takes %s", (_, before, now, after) => {
  expect(decideClawback(before, now)).toEqual(after);
});

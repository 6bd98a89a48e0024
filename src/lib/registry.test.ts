import fc from "fast-check";
import { expect, test } from "vitest";
import { createRegistry } from "./registry.ts";

test("lists added entries that are not removed, in any order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (steps) => {
      const registry = createRegistry<number>();
      const leaves = new Map<number, () => void>();
      for (const [moment, step] of steps.entries()) {
        const present = [...leaves.keys()];
        const leaving = present[step];
        if (leaving === undefined) leaves.set(moment, registry.add(moment));
        else {
          leaves.get(leaving)?.();
          leaves.delete(leaving);
        }
        expect(registry.list().toSorted((a, b) => a - b)).toEqual([...leaves.keys()].toSorted((a, b) => a - b));
      }
    }),
  );
});

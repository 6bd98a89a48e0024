import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestClock } from "../../test/harness/test-clock.ts";
import type { Clock } from "./clock.ts";
import { createIdSource, presentLeastId, readIdTime } from "./ids.ts";

const lastMillisecond = 2 ** 50 - 1; // the largest that ten characters can encode
const millisecond = fc.integer({ min: 0, max: lastMillisecond });

function stoppedClock(milliseconds: number): Clock {
  return createTestClock(new Date(milliseconds));
}

function filledWith(byte: number): (count: number) => Uint8Array {
  return (count) => new Uint8Array(count).fill(byte);
}

/** Sixteen bytes per id that encode, in base 32, how many ids were drawn before. */
function countingBytes(): (count: number) => Uint8Array {
  let drawn = 0;
  return (count) =>
    Uint8Array.from({ length: count }, () => {
      const place = 15 - (drawn % 16);
      const ordinal = Math.floor(drawn / 16);
      drawn += 1;
      return place > 3 ? 0 : Math.floor(ordinal / 32 ** place) % 32;
    });
}

describe("the format of an id", () => {
  test("an id is its prefix, an underscore and 26 characters without i, l, o and u", () => {
    const ids = createIdSource({ clock: stoppedClock(Date.UTC(2026, 0, 1)), randomBytes });
    for (const prefix of ["acct", "key", "req"] as const) {
      expect(ids.next(prefix)).toMatch(new RegExp(`^${prefix}_[0-9abcdefghjkmnpqrstvwxyz]{26}$`));
    }
  });

  test("bytes map uniformly to the letters of the alphabet", () => {
    let byte = 0;
    const allBytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => byte++ % 256);
    const ids = createIdSource({ clock: stoppedClock(0), randomBytes: allBytes });
    const letters = Array.from({ length: 16 }, () => ids.next("req").slice(-16)).join("");
    const counts = Map.groupBy(letters, (letter) => letter);
    expect([...counts.keys()].toSorted().join("")).toBe("0123456789abcdefghjkmnpqrstvwxyz");
    expect([...counts.values()].every((found) => found.length === 8)).toBe(true);
  });
});

describe("the time in an id", () => {
  test.each([
    ["1970-01-01T00:00:00.000Z", "0000000000"],
    ["2016-07-30T22:36:16.385Z", "01aryz6s41"], // the example of the ULID specification
    ["2024-01-01T00:00:00.000Z", "01hk153x00"],
  ])("%s is written as %s", (moment, expected) => {
    const ids = createIdSource({ clock: stoppedClock(Date.parse(moment)), randomBytes });
    expect(ids.next("acct").slice("acct_".length, -16)).toBe(expected);
  });

  test("an id of a later millisecond sorts after an earlier one, whatever the random parts", () => {
    fc.assert(
      fc.property(millisecond, millisecond, (one, other) => {
        fc.pre(one !== other);
        const earlier = createIdSource({ clock: stoppedClock(Math.min(one, other)), randomBytes: filledWith(255) });
        const later = createIdSource({ clock: stoppedClock(Math.max(one, other)), randomBytes: filledWith(0) });
        expect(earlier.next("key") < later.next("key")).toBe(true);
      }),
    );
  });

  test("neighbouring milliseconds sort in order, also where a digit carries over", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 49 }), (bits) => {
        const before = createIdSource({ clock: stoppedClock(2 ** bits - 1), randomBytes: filledWith(255) });
        const after = createIdSource({ clock: stoppedClock(2 ** bits), randomBytes: filledWith(0) });
        expect(before.next("key") < after.next("key")).toBe(true);
      }),
    );
  });

  test("an invalid clock throws instead of returning a broken id", () => {
    const ids = createIdSource({ clock: stoppedClock(Number.NaN), randomBytes });
    expect(() => ids.next("req")).toThrow("is not a time in milliseconds");
  });
});

describe("the random part of an id", () => {
  test("100 000 ids of one source and one millisecond are all different", () => {
    const ids = createIdSource({ clock: stoppedClock(0), randomBytes });
    const made = new Set(Array.from({ length: 100_000 }, () => ids.next("req")));
    expect(made.size).toBe(100_000);
  });

  test("the same time and bytes give the same ids", () => {
    const make = () => {
      const ids = createIdSource({ clock: stoppedClock(1), randomBytes: filledWith(7) });
      return [ids.next("acct"), ids.next("key")];
    };
    expect(make()).toEqual(["acct_00000000017777777777777777", "key_00000000017777777777777777"]);
  });

  test("no random byte is reused or skipped, even across blocks", () => {
    const ids = createIdSource({ clock: stoppedClock(0), randomBytes: countingBytes() });
    const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
    for (let ordinal = 0; ordinal < 1000; ordinal += 1) {
      const digits = [Math.floor(ordinal / 32) % 32, ordinal % 32].map((digit) => alphabet.charAt(digit));
      expect(ids.next("req").slice(-16)).toBe(`${"0".repeat(14)}${digits.join("")}`);
    }
  });
});

test("readIdTime returns an id's creation time, and null for other texts", () => {
  fc.assert(
    fc.property(millisecond, (milliseconds) => {
      const id = createIdSource({ clock: stoppedClock(milliseconds), randomBytes }).next("evt");
      expect(readIdTime(id)?.getTime()).toBe(milliseconds);
    }),
  );
  for (const text of ["", "evt_", "evt_01", "evt_0000000000000000000000000u0", `evt_${"l".repeat(26)}`]) {
    expect(readIdTime(text)).toBeNull();
  }
});

test("presentLeastId separates earlier ids from later ones", () => {
  fc.assert(
    fc.property(millisecond, millisecond, (one, other) => {
      const id = createIdSource({ clock: stoppedClock(one), randomBytes }).next("evt");
      expect(id >= presentLeastId("evt", new Date(other))).toBe(one >= other);
    }),
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashText } from "../lib/text-hash.ts";
import { type Choosable, chooseTarget } from "./choose-target.ts";

type Target = Choosable & { name: string; waitMs: number };

function createTarget(
  name: string,
  fields: Partial<{ providerId: string; priority: number; weight: number; keys: number; waitMs: number }> = {},
): Target {
  const { priority = 0, weight = 1, keys, waitMs = 0 } = fields;
  const provider = keys === undefined ? {} : { api_keys: Array.from({ length: keys }, (_, at) => `key${at}`) };
  const { providerId = name } = fields;
  return { name, providerId, route: { priority, weight }, provider, waitMs, placeHash: hashText(name) };
}

const waitMs = (target: Target): number => target.waitMs;

/** The name of the chosen target for a given random number. */
function choose(targets: readonly Target[], random: number, tried: readonly Target[] = []): string | null {
  const choice = chooseTarget(targets, { tried, waitMs, random: () => random });
  return choice.kind === "chosen" ? choice.target.name : null;
}

/** How often each is chosen, for evenly spread random numbers. */
function count(targets: readonly Target[], draws: number): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(targets.map(({ name }) => [name, 0]));
  for (let draw = 0; draw < draws; draw += 1) {
    const name = choose(targets, (draw + 0.5) / draws) ?? "";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const anyTargets = fc
  .array(
    fc.record({
      priority: fc.integer({ min: 0, max: 2 }),
      weight: fc.integer({ min: 1, max: 1000 }),
      keys: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      waitMs: fc.constantFrom(0, 0, 500, 7000),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((list) =>
    list.map(({ keys, ...fields }, at) => createTarget(String(at), keys === undefined ? fields : { ...fields, keys })),
  );

const anyChance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("after two attempts at one provider the next one is chosen, whatever the priorities", () => {
  const keys = ["a", "b", "c"].map((name) => createTarget(name, { providerId: "primary" }));
  const targets = [...keys, createTarget("spare", { priority: 1 })];
  expect(choose(targets, 0, keys.slice(0, 1))).toBe("b");
  expect(choose(targets, 0, keys.slice(0, 2))).toBe("spare");
  expect(choose(keys, 0, keys.slice(0, 2))).toBeNull();
  expect(chooseTarget(keys, { tried: keys.slice(0, 2), waitMs, random: () => 0 })).toEqual({
    ...{ kind: "none", retryAfterMs: null },
  });
});

describe("among several targets", () => {
  test("those of the lowest priority come first, whatever their weight", () => {
    const targets = [createTarget("spare", { priority: 1, weight: 1000 }), createTarget("main", { weight: 1 })];
    expect(count(targets, 100)).toEqual({ main: 100, spare: 0 });
    expect(choose(targets, 0, [targets[1] as Target])).toBe("spare");
  });

  test("equal priorities share the calls by weight", () => {
    const targets = [
      createTarget("a", { weight: 1 }),
      createTarget("b", { weight: 3 }),
      createTarget("c", { weight: 6 }),
    ];
    expect(count(targets, 1000)).toEqual({ a: 100, b: 300, c: 600 });
  });

  test("the keys of a route share its weight, so more keys get no more calls", () => {
    const keyed = ["first", "second", "third"].map((name) => createTarget(name, { weight: 3, keys: 3 }));
    expect(count([...keyed, createTarget("other", { weight: 3 })], 600)).toEqual({
      ...{ first: 100, second: 100, third: 100, other: 300 },
    });
  });

  test("any weights are respected, within one call in a thousand", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 5 }), (weights) => {
        const draws = 1000;
        const counts = count(
          weights.map((weight, at) => createTarget(String(at), { weight })),
          draws,
        );
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        for (const [at, weight] of weights.entries()) {
          expect(Math.abs((counts[at] ?? 0) - (draws * weight) / total)).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  test("one is chosen only if it was not tried, may be called, and no better one may", () => {
    fc.assert(
      fc.property(
        anyTargets,
        fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
        anyChance,
        (targets, flags, chance) => {
          const tried = targets.filter((_, at) => flags[at]);
          const able = targets.filter((target) => !tried.includes(target) && target.waitMs === 0);
          const best = Math.min(...able.map(({ route }) => route.priority));
          const chosen = choose(targets, chance, tried);
          const allowed = able.filter(({ route }) => route.priority === best).map(({ name }) => name);
          if (allowed.length === 0) expect(chosen).toBeNull();
          else expect(allowed).toContain(chosen);
        },
      ),
    );
  });

  test("a random number just below 1 still chooses", () => {
    const targets = [createTarget("a", { weight: 1, keys: 3 }), createTarget("b", { weight: 1, keys: 3 })];
    expect(choose(targets, 1 - Number.EPSILON / 2)).toBe("b");
    expect(choose(targets, 0)).toBe("a");
  });
});

describe("related calls", () => {
  /** The target of a conversation with this number. Not random. */
  function follow(targets: readonly Target[], affinity: number, tried: readonly Target[] = []): string | null {
    const call = { findAffinity: () => affinity };
    const choice = chooseTarget(targets, { tried, waitMs, random: Math.random, call });
    return choice.kind === "chosen" ? choice.target.name : null;
  }
  const conversations = Array.from({ length: 10_000 }, (_, at) => hashText(`conversation ${at}`));
  const keys = Array.from({ length: 10 }, (_, at) => createTarget(`key ${at}`, { keys: 10 }));

  test("go to the same target, and to the same next one if it cannot be called", () => {
    fc.assert(
      fc.property(anyTargets, fc.nat(2 ** 32 - 1), (targets, affinity) => {
        const first = follow(targets, affinity);
        expect(follow(targets.toReversed(), affinity)).toBe(first);
        const tried = targets.filter(({ name }) => name === first);
        const next = follow(targets, affinity, tried);
        const broken = targets.map((target) => (tried.includes(target) ? { ...target, waitMs: 9000 } : target));
        expect(follow(broken, affinity)).toBe(next);
        expect(follow(targets, affinity)).toBe(first);
      }),
    );
  });

  test("stay where they are when another target is added or removed", () => {
    fc.assert(
      fc.property(anyTargets, fc.nat(2 ** 32 - 1), fc.nat(5), (targets, affinity, at) => {
        const first = follow(targets, affinity);
        const fewer = targets.filter(({ name }, index) => index !== at || name === first);
        expect(follow(fewer, affinity)).toBe(first);
      }),
    );
  });

  test("respect priorities and weights", () => {
    const targets = [
      createTarget("light"),
      createTarget("heavy", { weight: 4 }),
      createTarget("spare", { priority: 1, weight: 1000 }),
    ];
    const chosen = conversations.map((affinity) => follow(targets, affinity));
    expect(chosen).not.toContain("spare");
    const share = chosen.filter((name) => name === "heavy").length / chosen.length;
    expect(Math.abs(share - 0.8)).toBeLessThan(0.02);
  });

  test("are spread over all targets, also those of a failed one", () => {
    const count = (names: readonly (string | null)[]) =>
      Object.values(Object.groupBy(names, String)).map((group) => group?.length ?? 0);
    for (const size of count(conversations.map((affinity) => follow(keys, affinity)))) {
      expect(Math.abs(size - 1000)).toBeLessThan(150);
    }
    const left = conversations.filter((affinity) => follow(keys, affinity) === "key 3");
    const next = count(left.map((affinity) => follow(keys, affinity, keys.slice(3, 4))));
    expect(next).toHaveLength(9);
    for (const size of next) expect(Math.abs(size - left.length / 9)).toBeLessThan(50);
  });

  test("compute no affinity if there is only one target", () => {
    const findAffinity = (): number => {
      throw new Error("unexpected call");
    };
    const [only] = keys;
    const choice = chooseTarget(keys.slice(0, 1), { tried: [], waitMs, random: () => 0, call: { findAffinity } });
    expect(choice).toEqual({ kind: "chosen", target: only });
  });
});

describe("if nothing can be called", () => {
  const decide = (targets: readonly Target[], tried: readonly Target[]) =>
    chooseTarget(targets, { tried, waitMs, random: () => 0 });

  test("the shortest wait of the untried targets is returned", () => {
    const targets = [500, 300, 900].map((wait, at) => createTarget(String(at), { waitMs: wait }));
    expect(decide(targets, [])).toEqual({ kind: "none", retryAfterMs: 300 });
    expect(decide(targets, targets.slice(1, 2))).toEqual({ kind: "none", retryAfterMs: 500 });
    expect(decide(targets.slice(0, 1), [])).toEqual({ kind: "none", retryAfterMs: 500 });
  });

  test("there is no wait if all were tried, or there are none", () => {
    const only = createTarget("only");
    expect(decide([only], [only])).toEqual({ kind: "none", retryAfterMs: null });
    expect(decide([], [])).toEqual({ kind: "none", retryAfterMs: null });
  });
});

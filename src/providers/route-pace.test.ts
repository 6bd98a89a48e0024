import { expect, test } from "vitest";
import { hashText } from "../lib/text-hash.ts";
import { type Choosable, chooseTarget } from "./choose-target.ts";
import { createRoutePaces, type RoutePace, type RoutePolicy } from "./route-pace.ts";

const conversations = Array.from({ length: 1_000 }, (_, number) => hashText(`conversation ${number}`));

type Paced = Choosable & { name: string; pace: RoutePace };

function open(policy: RoutePolicy, costs: readonly (number | null)[] = [null, null]): Paced[] {
  return createRoutePaces(policy, costs).map((pace, index) => {
    const name = `target ${index}`;
    return { name, providerId: name, route: { priority: 0, weight: 1 }, provider: {}, placeHash: hashText(name), pace };
  });
}

/** The target of each conversation. */
function choose(targets: readonly Paced[], isReady: (target: Paced) => boolean = () => true): string[] {
  const waitMs = (target: Paced): number => (isReady(target) ? 0 : 1);
  return conversations.map((affinity) => {
    const call = { findAffinity: () => affinity };
    const choice = chooseTarget(targets, { tried: [], waitMs, random: () => 0, call });
    return choice.kind === "chosen" ? choice.target.name : "";
  });
}

const share = (targets: readonly Paced[], index: number): number =>
  choose(targets).filter((name) => name === `target ${index}`).length / conversations.length;

let nowMs = 0;
/** Some time later. */
function pass(): number {
  nowMs += 1_100;
  return nowMs;
}

/** Ten answers of each target, in turns. */
function answer(targets: readonly Paced[], tookMs: readonly number[], turns = 10): void {
  for (let turn = 0; turn < turns; turn += 1) {
    pass();
    for (const [index, target] of targets.entries()) target.pace.noteAnswer("first", tookMs[index] ?? 0, nowMs);
  }
}

test("fastest: nearly all conversations go to the fastest, the rest notices when the other recovers", () => {
  const targets = open("fastest");
  expect(share(targets, 0)).toBeCloseTo(0.5, 1);
  answer(targets, [200, 600]);
  expect(share(targets, 0)).toBeGreaterThan(0.9);
  expect(share(targets, 1)).toBeGreaterThan(0.01);
  answer(targets, [200, 200], 40);
  expect(share(targets, 0)).toBeCloseTo(0.5, 1);
});

test("fastest: a quick target that fails most calls is not the fastest, until it has recovered", () => {
  const targets = open("fastest");
  answer(targets, [200, 300]);
  for (let turn = 0; turn < 20; turn += 1) targets[0]?.pace.noteFailure(pass());
  expect(share(targets, 1)).toBeGreaterThan(0.9);
  answer(targets, [200, 300], 40);
  expect(share(targets, 0)).toBeGreaterThan(0.4);
});

test.each(["fastest", "balanced"] as const)(
  "%s: small differences and single slow answers move no conversation",
  (policy) => {
    const targets = open(policy);
    answer(targets, [200, 210]);
    const before = choose(targets);
    answer(targets, [230, 200]);
    targets[0]?.pace.noteAnswer("first", 5_000, pass());
    answer(targets, [200, 230], 3);
    expect(choose(targets)).toEqual(before);
  },
);

test("balanced: a target that takes four times as long gets a fourth, and moves only those conversations", () => {
  const targets = open("balanced");
  const before = choose(targets);
  answer(targets, [200, 800]);
  expect(share(targets, 1)).toBeCloseTo(0.2, 1);
  const moved = choose(targets).filter((name, index) => name !== before[index]);
  expect(new Set(moved)).toEqual(new Set(["target 0"]));
});

test("cheapest: the next cheapest serves only while the cheapest cannot, and without a cost comes last", () => {
  const targets = open("cheapest", [0.02, 0.01, null]);
  expect(new Set(choose(targets))).toEqual(new Set(["target 1"]));
  expect(new Set(choose(targets, ({ name }) => name !== "target 1"))).toEqual(new Set(["target 0"]));
  expect(new Set(choose(targets, ({ name }) => name === "target 2"))).toEqual(new Set(["target 2"]));
});

test("streams and whole answers are not compared with each other", () => {
  const targets = open("fastest");
  for (let turn = 0; turn < 10; turn += 1) {
    pass();
    targets[0]?.pace.noteAnswer("first", 200, nowMs);
    targets[1]?.pace.noteAnswer("whole", 20_000, nowMs);
  }
  expect(share(targets, 0)).toBeCloseTo(0.5, 1);
});

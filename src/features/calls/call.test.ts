import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallEvent, type CallState, canFollow, decideHangUp, decideTransition, hasHungUp } from "./call.ts";

const events: readonly CallEvent[] = [
  ...(["admit", "replay", "refuse", "authorize", "accept", "deliver", "answer", "fail", "exhaust"] as const),
  ...(["leave", "drain", "forfeit", "charged", "uncharged", "lost"] as const),
];
const finals: readonly CallState[] = ["settled", "released", "refused", "replayed", "failed"];

function listFollowing(state: CallState): CallEvent[] {
  return events.filter((event) => canFollow(state, event));
}

describe("a call", () => {
  test("ends once, in a final state, with its charge decided once, whatever happens in whatever order", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 40, maxLength: 40 }), (chances) => {
        let state: CallState = "received";
        let charges = 0;
        let isAuthorized = false;
        for (const chance of chances) {
          const possible = listFollowing(state).filter((event) => event !== "deliver" || chance % 5 > 0);
          const event = possible[chance % Math.max(possible.length, 1)];
          if (event === undefined) break;
          const { to, charge } = decideTransition(state, event);
          if (charge !== null) charges += 1;
          if (to === "authorized") isAuthorized = true;
          // What is decided is never decided anew.
          expect(charge === null || to === "settling").toBe(true);
          state = to;
        }
        if (!finals.includes(state)) return;
        expect(charges).toBe(isAuthorized || state === "settled" || state === "released" ? 1 : charges);
        expect(charges).toBeLessThanOrEqual(1);
        expect(listFollowing(state)).toEqual([]);
      }),
    );
  });

  test("can come to an end from every state", () => {
    const ending = new Set<CallState>(finals);
    const states: readonly CallState[] = [
      ...([
        "received",
        "admitted",
        "authorized",
        "accepted",
        "streaming",
        "abandoned",
        "draining",
        "settling",
      ] as const),
    ];
    for (let round = 0; round < states.length; round += 1) {
      for (const state of states) {
        if (listFollowing(state).some((event) => ending.has(decideTransition(state, event).to))) ending.add(state);
      }
    }
    expect(states.filter((state) => !ending.has(state))).toEqual([]);
  });

  test("refuses what cannot happen, as a mistake of ours", () => {
    expect(() => decideTransition("settled", "charged")).toThrow("a call that is settled cannot charged");
    expect(() => decideTransition("received", "deliver")).toThrow();
  });

  test.each<CallState>(["accepted", "streaming"])("that is %s costs no less for hanging up", (state) => {
    expect(decideTransition(state, "leave").charge).toBe("always");
    expect(decideTransition(state, "forfeit").charge).toBe("reported-or-hold");
    const drained = decideTransition(state, "drain").to;
    expect(hasHungUp(drained)).toBe(true);
    for (const end of ["answer", "fail", "exhaust"] as const) {
      expect(decideTransition(drained, end).charge).toBe("reported-or-hold");
    }
  });

  test("costs nothing where no upstream accepted it", () => {
    for (const event of ["fail", "leave"] as const)
      expect(decideTransition("authorized", event).charge).toBe("nothing");
    expect(decideTransition("abandoned", "fail").charge).toBe("nothing");
  });
});

test.each([
  ["no upstream was asked", { isSent: false, isCostKnown: false, places: 1 }, "leave"],
  ["its cost is known", { isSent: true, isCostKnown: true, places: 1 }, "leave"],
  ["only the upstream can tell", { isSent: true, isCostKnown: false, places: 1 }, "drain"],
  ["there is no place to wait for it", { isSent: true, isCostKnown: false, places: 0 }, "forfeit"],
])("a hang-up where %s", (_name, { places, ...facts }, event) => {
  expect(decideHangUp({ ...facts, hasDrainPlace: () => places > 0 })).toBe(event);
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CallState,
  callEvents,
  callStates,
  decideHangUp,
  decideTransition,
  hasHungUp,
  isBuffering,
  type Transition,
} from "./call.ts";

const finals: readonly CallState[] = ["settled", "released", "refused", "replayed", "failed"];
/** States in which money may be on hold. */
const held = callStates.filter((state) => !["received", "admitted", ...finals].includes(state));

function listMoves(state: CallState): Transition[] {
  return callEvents.map((event) => decideTransition(state, event)).filter((cell) => typeof cell === "object");
}

function decideMove(state: CallState, event: (typeof callEvents)[number]): Transition {
  const cell = decideTransition(state, event);
  if (typeof cell !== "object") throw new Error(`${state} and ${event} is ${cell}`);
  return cell;
}

describe("the call table", () => {
  test("has a cell for every event in every state", () => {
    for (const state of callStates) {
      for (const event of callEvents) {
        const cell = decideTransition(state, event);
        expect(cell === "ignore" || cell === "impossible" || callStates.includes(cell.to)).toBe(true);
      }
    }
  });

  test("ends the hold exactly on moves to settling, and finishes exactly on moves to a final state", () => {
    for (const state of callStates) {
      for (const { to, effects, charge } of listMoves(state)) {
        const endings = effects.filter((effect) => effect === "settle" || effect === "release");
        expect(endings).toHaveLength(to === "settling" ? 1 : 0);
        expect(charge !== null).toBe(endings.includes("settle"));
        const isReplay = to === "replayed";
        expect(effects.includes("finish")).toBe(finals.includes(to) && !isReplay);
      }
    }
  });

  test("never leaves a final state", () => {
    for (const state of finals) expect(listMoves(state)).toEqual([]);
  });

  test.each(held.filter((state) => state !== "settling"))(
    "ends a call that is %s after a fault or a shutdown",
    (state) => {
      for (const event of ["fault", "stop", "hand-over"] as const) {
        const cell = decideTransition(state, event);
        expect(cell).not.toBe("impossible");
        // Buffered events are dispatched when the ledger has answered.
        if (typeof cell === "string" || cell.effects.includes("buffer")) {
          expect(
            ["authorize", "refuse"].map((result) => typeof decideTransition(state, result as "authorize")),
          ).toEqual([...["object", "object"]]);
        } else expect(cell.to).toBe("settling");
      }
    },
  );

  test("delivers nothing before the hold is open", () => {
    for (const state of ["received", "admitted", "reserving", "withdrawn", "racing"] as const) {
      for (const { effects } of listMoves(state)) {
        expect(effects).not.toContain("send-head");
        expect(effects).not.toContain("deliver");
      }
    }
  });

  test("calls the upstream only at an optimistic start, or once the hold is open", () => {
    const senders = callStates.filter((state) => listMoves(state).some(({ effects }) => effects.includes("send")));
    expect(senders).toEqual(["admitted", "reserving"]);
    expect(decideMove("reserving", "authorize").effects).toContain("send");
  });

  test("reaches a final state from every state", () => {
    const ending = new Set<CallState>(finals);
    for (let round = 0; round < callStates.length; round += 1) {
      for (const state of callStates) if (listMoves(state).some(({ to }) => ending.has(to))) ending.add(state);
    }
    expect(callStates.filter((state) => !ending.has(state))).toEqual([]);
  });

  test("decides at most one charge for any sequence of events", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 60, maxLength: 60 }), (chances) => {
        let state: CallState = "received";
        let endings = 0;
        for (const chance of chances) {
          const moves = listMoves(state);
          const move = moves[chance % Math.max(moves.length, 1)];
          if (move === undefined) break;
          if (move.to === "settling") endings += 1;
          state = move.to;
        }
        expect(endings).toBeLessThanOrEqual(1);
        if (finals.includes(state) && state !== "replayed") expect(endings).toBe(1);
      }),
    );
  });

  test.each<CallState>(["accepted", "streaming", "short"])(
    "charges a hang-up while %s no less than listening",
    (state) => {
      const drained = decideMove(state, "hang-up").to;
      expect(hasHungUp(drained)).toBe(true);
      expect(decideMove(drained, "leave").charge).toBe("always");
      for (const end of ["forfeit", "exhaust", "overrun", "fault", "stop"] as const) {
        expect(decideMove(drained, end).charge).toBe("reported-or-hold");
      }
      if (isBuffering(drained)) return;
      for (const end of ["end", "fail"] as const) expect(decideMove(drained, end).charge).toBe("reported-or-hold");
    },
  );

  test("charges nothing if no upstream accepted", () => {
    expect(decideMove("withdrawn", "authorize").charge).toBe("nothing");
    for (const state of ["authorized", "abandoned"] as const) {
      for (const event of ["fail", "stop", "fault"] as const) {
        expect(decideMove(state, event).effects).toContain("release");
      }
    }
  });

  test("charges nothing for a call that another process runs again", () => {
    for (const state of ["authorized", "accepted", "streaming", "short"] as const) {
      expect(decideMove(state, "hand-over").effects).toEqual(["cancel-upstream", "release"]);
    }
  });

  test("keeps a hung-up call until the upstream accepts or rejects", () => {
    expect(decideMove("authorized", "hang-up")).toMatchObject({ to: "abandoned", charge: null });
    expect(decideTransition("abandoned", "leave")).toBe("impossible");
  });
});

test.each([
  [
    "waits for an upstream whose cost will be known when it accepts",
    { hasVerdict: false, isCostKnown: true, places: 0 },
    "read-on",
  ],
  ["stops an upstream whose cost is known", { hasVerdict: true, isCostKnown: true, places: 0 }, "leave"],
  ["reads an upstream of unknown cost to its end", { hasVerdict: true, isCostKnown: false, places: 1 }, "read-on"],
  ["keeps a place for one that has not accepted", { hasVerdict: false, isCostKnown: false, places: 1 }, "read-on"],
  ["forfeits the hold without a place", { hasVerdict: true, isCostKnown: false, places: 0 }, "forfeit"],
])("a hang-up %s", (_name, { places, ...facts }, verdict) => {
  expect(decideHangUp({ ...facts, hasDrainPlace: () => places > 0 })).toBe(verdict);
});

import { expect, test } from "vitest";
import { decideHangUp, type HungUpCall } from "./decide-hang-up.ts";

const call: HungUpCall = {
  isSent: true,
  isAccepted: true,
  isVisible: true,
  isInputKnown: true,
  reportsUsage: false,
  isComplete: false,
};

test.each<[string, Partial<HungUpCall>, "cancel" | "drain"]>([
  ["nobody was asked yet", { isSent: false, isVisible: false }, "cancel"],
  ["all that it wrote was seen", {}, "cancel"],
  ["all that it would write is seen, and it has not accepted", { isAccepted: false, isInputKnown: false }, "cancel"],
  ["it told its usage with the last piece", { isVisible: false, reportsUsage: true }, "cancel"],
  ["it may have written what nobody saw", { isVisible: false }, "drain"],
  ["a whole answer is under way", { isVisible: false, isAccepted: false }, "drain"],
  ["nobody knows what its input comes to", { isInputKnown: false }, "drain"],
  ["only its usage is missing", { isComplete: true, reportsUsage: true }, "drain"],
])("where %s", (_name, known, way) => {
  expect(decideHangUp({ ...call, ...known })).toBe(way);
});

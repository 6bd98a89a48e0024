import { expect, test } from "vitest";
import { nano } from "../../../lib/money.ts";
import { decideTopUp } from "./decide-top-up.ts";
import type { TopUpRule } from "./top-up-rule.ts";

const now = new Date("2026-11-15T12:00:00Z");
const rule: TopUpRule = {
  accountId: "acct_1",
  state: "on",
  stopReason: null,
  threshold: nano(10n),
  amount: nano(20n),
  amountMinor: 2000n,
  monthMax: nano(100n),
  nextAt: now,
};
const facts = {
  now,
  available: nano(9n),
  isBlocked: false,
  hasOpenCharge: false,
  attempts: 4,
  attemptsMax: 5,
  chargedThisMonth: nano(80n),
};

test("a card is charged only below the threshold, within the month's maximum, and not too often", () => {
  expect(decideTopUp(rule, facts).kind).toBe("charge");
  expect(decideTopUp(rule, { ...facts, available: nano(10n) }).kind).toBe("nothing");
  expect(decideTopUp(rule, { ...facts, isBlocked: true }).kind).toBe("nothing");
  expect(decideTopUp(rule, { ...facts, hasOpenCharge: true }).kind).toBe("nothing");
  expect(decideTopUp(rule, { ...facts, attempts: 5 }).kind).toBe("nothing");
  expect(decideTopUp(rule, { ...facts, chargedThisMonth: nano(81n) }).kind).toBe("cap-reached");
  expect(decideTopUp({ ...rule, state: "stopped" }, facts).kind).toBe("nothing");
  expect(decideTopUp({ ...rule, nextAt: new Date(now.getTime() + 1) }, facts).kind).toBe("nothing");
});

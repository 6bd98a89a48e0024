import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { nano } from "../../lib/money.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { createLogger } from "../../platform/observability/logger.ts";
import type { DoubtfulCharge, Ledger } from "../ledger/index.ts";
import { createWithdrawals } from "./withdrawals.ts";

const doubtful: DoubtfulCharge = {
  hold: {
    ...{ kind: "hold", id: "hold_1", accountId: "acct_1", amount: nano(5n), quota: null, budget: null },
    ...{ cause: { kind: "request", id: "req_1" }, expiresAt: new Date(0) },
  },
  settlement: {
    ...{ kind: "settle", accountId: "acct_1", holdId: "hold_1", overrun: "take-available", budgetAmount: null },
    bill: { priceId: "price_1", per: 1n, minimum: nano(0n), quotaUnits: 1n, items: [] },
  },
  refundId: "txn_9",
};

/** A ledger that is unavailable for `awayFor` operations and has charged the call before. */
function open(awayFor: number, failure: Error = new AppError("overloaded", "The payment could not be recorded.")) {
  const kinds: string[] = [];
  const lines: string[] = [];
  let left = awayFor;
  const results = {
    hold: { kind: "held" },
    release: { kind: "already-resolved", state: "settled" },
    settle: { kind: "settled", paid: 3n },
    refund: { kind: "booked" },
  } as const;
  const ledger = {
    async apply({ kind }: { kind: keyof typeof results }) {
      left -= 1;
      if (left >= 0) throw failure;
      kinds.push(kind);
      return results[kind];
    },
  } as unknown as Ledger;
  const logger = createLogger({ level: "info", format: "json", write: (line) => void lines.push(line) });
  return { kinds, lines, withdrawals: createWithdrawals({ ledger, logger, clock: createTestClock(), retryMs: 1 }) };
}

test("a charge in doubt is retried until the ledger answers, and refunded", async () => {
  const { kinds, lines, withdrawals } = open(3);
  withdrawals.add(doubtful);
  await waitUntil("its end", () => lines.length === 1);
  expect(kinds).toEqual(["hold", "release", "settle", "refund"]);
  expect(lines.join("")).toContain('"outcome":"refunded"');
  await withdrawals.close();
});

test("an error other than an outage is tried once and logged", async () => {
  const { kinds, lines, withdrawals } = open(1, new Error("the charge was not refunded: over-charge"));
  withdrawals.add(doubtful);
  await waitUntil("its end", () => lines.length === 1);
  expect(lines[0]).toMatch(/"level":"error".*"hold_id":"hold_1"/);
  expect(kinds).toEqual([]);
  await withdrawals.close();
  expect(lines).toHaveLength(1);
});

test("a charge in doubt at shutdown is tried once more and logged", async () => {
  const { lines, withdrawals } = open(Number.POSITIVE_INFINITY);
  withdrawals.add(doubtful);
  await withdrawals.close();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/"level":"error".*"hold_id":"hold_1".*refund it if it exists/);
});

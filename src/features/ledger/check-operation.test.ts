import { expect, test } from "vitest";
import { type Nano, nano } from "../../lib/money.ts";
import { checkOperation } from "./check-operation.ts";
import { amountMax, quotaMax } from "./ledger-state.ts";
import type { HoldOperation, Operation, SettleOperation } from "./operation.ts";

const now = new Date("2026-01-01T00:00:00Z");
const later = new Date("2026-01-01T00:15:00Z");
const cause = { kind: "request", id: "req_1" } as const;
const accountId = "acct_1" as const;

const hold: HoldOperation = {
  kind: "hold",
  id: "hold_1",
  accountId,
  amount: nano(1n),
  quota: null,
  budget: null,
  cause,
  expiresAt: later,
};
const bill = {
  priceId: "price_1",
  items: [{ name: "input_tokens", quantity: 1n, rate: nano(1n) }],
  per: 1000n,
  minimum: nano(0n),
  quotaUnits: 0n,
};
const settle: SettleOperation = {
  kind: "settle",
  accountId,
  holdId: "hold_1",
  bill,
  overrun: "refuse",
  budgetAmount: null,
};
const topUp = { kind: "top-up", id: "txn_1", accountId, amount: nano(1n), channel: "operator", cause } as const;
const grant = { ...topUp, kind: "grant", unit: "text", amount: 1n, expiresAt: null } as const;

function withItem(quantity: bigint, rate: bigint): Operation {
  return { ...settle, bill: { ...bill, items: [{ name: "input_tokens", quantity, rate: nano(rate) }] } };
}

test.each<[string, Operation]>([
  ["the smallest hold", hold],
  ["the largest hold", { ...hold, amount: nano(amountMax) }],
  ["a budget of zero", { ...hold, budget: { keyId: "key_1", amount: nano(0n), period: "day" } }],
  ["a charge of zero", withItem(0n, 0n)],
  ["a bill of the maximum amount", withItem(1000n, amountMax)],
  ["the largest quota", { ...grant, amount: quotaMax }],
  ["an adjustment down", { kind: "adjust", id: "txn_1", accountId, amount: nano(-1n), cause }],
])("%s passes", (_, operation) => {
  expect(() => checkOperation(operation, now)).not.toThrow();
});

const wrongAmounts: [string, bigint][] = [
  ["zero", 0n],
  ["a negative amount", -1n],
  ["one above the maximum", amountMax + 1n],
  ["more than 64 bits", 2n ** 64n],
];

test.each(wrongAmounts)("%s cannot be held, topped up, granted or refunded", (_, amount) => {
  const wrong = nano(amount) as Nano;
  const operations: Operation[] = [
    { ...hold, amount: wrong },
    { ...topUp, amount: wrong },
    { ...grant, unit: "money", amount },
    { kind: "refund", id: "txn_2", accountId, chargeId: "txn_1", amount, cause },
    { kind: "extend", accountId, holdId: "hold_1", amount: wrong, quotaUnits: 0n, budgetAmount: null, expiresAt: null },
  ];
  for (const operation of operations) {
    expect(() => checkOperation(operation, now)).toThrow(expect.objectContaining({ param: "amount" }));
  }
});

test.each<[string, Operation, string]>([
  ["an adjustment by zero", { kind: "adjust", id: "txn_1", accountId, amount: nano(0n), cause }, "amount"],
  [
    "an adjustment by too much",
    { kind: "adjust", id: "txn_1", accountId, amount: nano(-amountMax - 1n), cause },
    "amount",
  ],
  ["a quota above the maximum", { ...grant, amount: quotaMax + 1n }, "amount"],
  ["a hold for no units of a quota", { ...hold, quota: { kind: "text", units: 0n } }, "quota"],
  ["a budget below zero", { ...hold, budget: { keyId: "key_1", amount: nano(-1n), period: "day" } }, "budget"],
  ["a hold that ends now", { ...hold, expiresAt: now }, "expires_at"],
  ["a hold for a year", { ...hold, expiresAt: new Date("2027-01-01T00:00:00Z") }, "expires_at"],
  ["a hold without a cause", { ...hold, cause: { kind: "request", id: "" } }, "cause"],
  ["an id of another kind", { ...hold, id: "txn_1" as HoldOperation["id"] }, "id"],
  ["an id with an apostrophe", { ...topUp, id: "txn_'; drop" }, "id"],
  ["a negative quantity", withItem(-1n, 1n), "input_tokens"],
  ["a negative rate", withItem(1n, -1n), "input_tokens rate"],
  ["a quantity of more than 64 bits", withItem(2n ** 64n, 0n), "input_tokens"],
  ["a bill above the maximum amount", withItem(amountMax, amountMax), "amount"],
  ["a rate for no quantity", { ...settle, bill: { ...bill, per: 0n } }, "per"],
  ["a negative minimum", { ...settle, bill: { ...bill, minimum: nano(-1n) } }, "minimum"],
])("%s is rejected with the field's name", (_, operation, param) => {
  expect(() => checkOperation(operation, now)).toThrow(expect.objectContaining({ code: "invalid_parameter", param }));
});

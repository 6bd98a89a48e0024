import { expect, test } from "vitest";
import type { StatementEntry } from "../features/ledger/index.ts";
import { nano } from "../lib/money.ts";
import { presentEntryJson, presentStatementCsv, presentStatementText } from "./present-statement.ts";

const topUp: StatementEntry = {
  number: 1n,
  transactionId: "txn_1",
  leg: 0,
  createdAt: new Date("2026-01-01T00:00:00Z"),
  kind: "top_up",
  unit: "money",
  amount: 10_000_000_000n,
  balance: 10_000_000_000n,
  bucket: { id: "bkt_1", kind: "cash", expiresAt: null, balance: 10_000_000_000n },
  refundOf: null,
  cause: { kind: "operator", id: "act_1" },
  operator: { actor: "ada", reason: '=HYPERLINK("http://x"), "quoted"\nand more' },
  bill: null,
};
const charge: StatementEntry = {
  ...topUp,
  number: 2n,
  transactionId: "txn_2",
  kind: "charge",
  amount: -450_000n,
  balance: 9_999_550_000n,
  operator: null,
  cause: { kind: "request", id: "req_1" },
  bill: {
    priceId: "price_1",
    items: [{ name: "input_tokens", quantity: 1000n, rate: nano(450_000n) }],
    per: 1000n,
    minimum: nano(0n),
    quotaUnits: 1000n,
    cost: 450_000n,
    paid: 450_000n,
    lost: 0n,
  },
};
const quota: StatementEntry = { ...topUp, kind: "grant", unit: "text", amount: 1000n, balance: 1000n, operator: null };

test("a text statement contains amounts, causes and balances", () => {
  const [heading, , second] = presentStatementText([topUp, charge], "EUR").split("\n");
  expect(heading).toMatch(/^TIME +KIND +UNIT +AMOUNT +BALANCE +BUCKET +CAUSE +DETAIL$/);
  expect(second).toContain("-0.00045 EUR");
  const text = presentStatementText([charge], "EUR");
  expect(text).toContain("1000 input_tokens at 0.00045 EUR per 1000 (price_1)");
  expect(text).toContain("request req_1");
});

test("quota units are whole numbers", () => {
  expect(presentStatementText([quota], "EUR")).toMatch(/ text +1000 +1000 /);
});

test("a CSV statement has one row per entry, safe against formulas and quotes", () => {
  const csv = presentStatementCsv([topUp, charge]);
  const [heading, ...rest] = csv.split("\r\n");
  expect(heading?.split(",")).toHaveLength(18);
  expect(rest.join("\r\n")).toContain(`"'=HYPERLINK(""http://x""), ""quoted""\nand more"`);
  expect(csv).toContain("-0.00045,9.99955,bkt_1");
  expect(csv).toContain("input_tokens:1000@0.00045,1000,0.00");
});

test("a JSON statement contains everything to recompute a charge, amounts as text", () => {
  expect(presentEntryJson(charge)).toMatchObject({
    id: "txn_2",
    amount: "-0.00045",
    balance: "9.99955",
    cause: { kind: "request", id: "req_1" },
    bill: {
      price_id: "price_1",
      items: [{ name: "input_tokens", quantity: "1000", rate: "0.00045" }],
      per: "1000",
      minimum: "0.00",
      cost: "0.00045",
      paid: "0.00045",
      lost: "0.00",
    },
  });
});

import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import { fingerprintOperation } from "./fingerprint.ts";
import type { HoldOperation, Operation, SettleOperation } from "./operation.ts";

const hold: HoldOperation = {
  kind: "hold",
  id: "hold_1",
  accountId: "acct_01k0000000golden0000000000",
  amount: nano(123_456n),
  quota: null,
  budget: null,
  cause: { kind: "request", id: "req_01k0000000golden0000000000" },
  expiresAt: new Date(0),
};
const bill = {
  priceId: "price_1",
  items: [
    { name: "input_tokens", quantity: 120n, rate: nano(150_000n) },
    { name: "output_tokens", quantity: 60n, rate: nano(600_000n) },
  ],
  per: 1000n,
  minimum: nano(5n),
  quotaUnits: 180n,
};
const settle: SettleOperation = {
  kind: "settle",
  accountId: "acct_1",
  holdId: "hold_1",
  bill,
  overrun: "take-available",
  budgetAmount: null,
};
const booking = { id: "txn_1", accountId: "acct_1", cause: { kind: "operator", id: "act_1" } } as const;
const odd = { name: 'n"ä\t', quantity: 0n, rate: nano(1n) };

const fingerprints: [Exclude<Operation, { kind: "extend" | "release" | "expire-hold" | "expire-bucket" }>, string][] = [
  [hold, "-0Y_Jvza-xlPukbbOfEo1whrAfAw_P7Y4clLjO2Ml6g"],
  [{ ...hold, quota: { kind: "text", units: 9_000_000_000_000_000n } }, "kEOIELax0h8Pohh1a7FWcKrcu6Q0wpgTnl2L-dfnpOo"],
  [
    { ...hold, budget: { keyId: "key_1", amount: nano(5n), period: "day" } },
    "xBt5ASd58t3algCpL6QecBrtibBIXPMl3mMawV4_R-A",
  ],
  [
    { ...hold, cause: { kind: "task", id: 'a "quoted" \\ größe \n\u0001\ud800 end' } },
    "Jg544SwMQ_2p_8Rz-q6ldfdgPlao9nu7uhNwxs79bwc",
  ],
  [settle, "8zZMUVpQO0AWeMnhrBKvUathtC4axyOR_xddW4jSt54"],
  [{ ...settle, overrun: "refuse", bill: { ...bill, items: [] } }, "bQJ_VV5_EKFNlnZRTHbZGUQGoeHJ0Y2CMslPLOFRa1Q"],
  [{ ...settle, bill: { ...bill, priceId: 'p"\\', items: [odd] } }, "1zn5hlrpg8ilpFpQn2LbRxgBzyfpwkuD0skstB1XVJs"],
  [{ ...booking, kind: "top-up", amount: nano(5n), channel: "stripe" }, "pv7Cfi_M5aCCxDFbyf1RQBz8BsEur7JuSJqFcDMXWAQ"],
  [
    { ...booking, kind: "grant", amount: 5n, unit: "text", channel: "welcome", expiresAt: null },
    "USvIt8Xh_qEXxsxP9h9hczZQ2ODtuPZIkLliueCKrq8",
  ],
  [{ ...booking, kind: "adjust", amount: nano(-5n) }, "keVIDB246ViRRsGuQg81f-eGPOWLxoBMZk5Ng5pAUoM"],
  [{ ...booking, kind: "refund", amount: 5n, chargeId: "txn_2" }, "DVl4C9wI4ZkFcdpkU8Wh3yoz-yWxESuJ3Y6V-3kOwTU"],
];

// From the first version that stored fingerprints: a retry after an upgrade must still match.
test.each(fingerprints)("stored fingerprints never change: %o", (operation, fingerprint) => {
  expect(fingerprintOperation(operation)).toBe(fingerprint);
});

import { expect, test } from "vitest";
import { countRuns } from "../../../test/harness/count-runs.ts";
import {
  compilePricing,
  createRandom,
  createTokenCase,
  createTokenPricing,
} from "../../../test/harness/price-model.ts";
import { testSeed } from "../../../test/harness/test-seed.ts";
import { capBill, computeCharge, findQuoteDiscount } from "../../lib/bill.ts";
import { nano } from "../../lib/money.ts";
import { capTerms } from "../calls/index.ts";
import { createChatTerms } from "./chat-terms.ts";
import { billChat, limitToRequested } from "./quote-chat.ts";

const random = createRandom(testSeed);

/** The terms of one request at two prices: when it was quoted, and when it was sent. */
function createCase() {
  const { usage, kinds, inputMax, outputMax } = createTokenCase(random);
  const visibility = { isVisible: true, isMetered: random.isOneIn(2) };
  const write = () => {
    const rates = compilePricing(createTokenPricing(random));
    const model = { limits: {}, usual_output_tokens: 1 + random.below(2000) };
    const asked = { model, rates, kinds, size: { tokensMax: inputMax }, visibility, choices: 1, holdMs: 1 };
    return { rates, terms: createChatTerms({ ...asked, outputTokensAsked: Math.max(outputMax, 1) }) };
  };
  return { usage: limitToRequested(usage, kinds), before: write(), now: write() };
}

const cases = Array.from({ length: countRuns(20_000) }, createCase);

test("no hold and no charge exceeds its quote, whatever the price has become", () => {
  for (const { usage, before, now } of cases) {
    const quoted = before.terms.price(before.terms.unitsMax);
    const capped = capTerms(now.terms, quoted);
    const bill = billChat(now.rates, { ...usage, isCounted: false });
    const honest = computeCharge(bill);
    const charge = computeCharge(capBill(bill, quoted));
    expect(charge).toBe(honest < quoted ? honest : quoted);
    expect(honest - charge).toBeGreaterThanOrEqual(findQuoteDiscount(capBill(bill, quoted)));
    for (const units of [0, 1, capped.unitsUsual, capped.unitsMax]) {
      expect(capped.price(units)).toBeLessThanOrEqual(quoted);
      // What is on hold pays for the whole answer.
      expect(capped.countAffordable(capped.price(units))).toBeGreaterThanOrEqual(units);
    }
    expect(charge).toBeLessThanOrEqual(capped.price(capped.unitsMax));
  }
});

test("a quote changes nothing while the price is the same, and its most is the whole hold", () => {
  for (const { usage, now } of cases) {
    const quoted = now.terms.price(now.terms.unitsMax);
    const capped = capTerms(now.terms, quoted);
    const bill = billChat(now.rates, { ...usage, isCounted: false });
    expect(capBill(bill, quoted)).toBe(bill);
    expect(capped.price(capped.unitsMax)).toBe(quoted);
    for (const units of [0, capped.unitsUsual]) expect(capped.price(units)).toBe(now.terms.price(units));
  }
});

test("a minimum charge that was raised is lowered to the quote", () => {
  const bill = { priceId: "price_1", per: 1000n, quotaUnits: 1n, minimum: nano(500n) };
  const cheap = { ...bill, items: [{ name: "input_tokens", quantity: 1n, rate: nano(1000n) }] };
  expect(capBill(cheap, nano(200n))).toEqual({ ...cheap, minimum: 200n });
  const dear = { ...bill, items: [{ name: "input_tokens", quantity: 1000n, rate: nano(700n) }] };
  const capped = capBill(dear, nano(200n));
  expect([computeCharge(capped), findQuoteDiscount(capped), capped.minimum]).toEqual([200n, 500n, 200n]);
});

import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import { chooseTax, computeIncludedTax, isTaxIdOf } from "./choose-tax.ts";
import type { InvoiceTerms } from "./invoice-terms.ts";

const terms: InvoiceTerms = {
  seller: { name: "Seller", address: "Street 1", country: "DE" },
  tax: [
    { country: "DE", rate: 19 },
    { country: "EU", tax_id: "with", rate: 0, note: "Reverse charge" },
    { country: "FR", name: "TVA", rate: 20 },
    { country: "US", name: "Sales tax", rate: 8.875 },
    { country: "*", rate: 0 },
  ],
};

const buyers = [
  { country: "DE", taxId: null, name: "VAT", rate: 19_000 },
  { country: "DE", taxId: "DE1", name: "VAT", rate: 19_000 },
  { country: "FR", taxId: "FR1", name: "VAT", rate: 0 },
  { country: "FR", taxId: null, name: "TVA", rate: 20_000 },
  { country: "US", taxId: "1", name: "Sales tax", rate: 8875 },
  { country: "CH", taxId: "CHE1", name: "VAT", rate: 0 },
  // Without a country, the seller's applies: too much tax can be corrected, too little is owed.
  { country: null, taxId: null, name: "VAT", rate: 19_000 },
];

test.for(buyers)("a buyer in $country with tax id $taxId pays $rate of $name", ({ country, taxId, name, rate }) => {
  expect(chooseTax(terms, { country, taxId })).toMatchObject({ name, rate });
});

test("without rules, documents state no tax", () => {
  expect(chooseTax({ seller: terms.seller }, { country: "DE", taxId: null })).toBeNull();
});

const taxes = [
  { amount: 20_000_000_000n, rate: 19_000, currency: "EUR", tax: 3_190_000_000n },
  // 0.005 rounds up to a cent: 5 % of 0.10 is 0.105 less 0.005.
  { amount: 105_000_000n, rate: 5000, currency: "EUR", tax: 10_000_000n },
  { amount: 1_000_000_000_000n, rate: 10_000, currency: "JPY", tax: 91_000_000_000n },
  { amount: 5_125_000_000n, rate: 5000, currency: "KWD", tax: 244_000_000n },
  { amount: 20_000_000_000n, rate: 0, currency: "EUR", tax: 0n },
];

test.for(taxes)("$amount $currency at $rate contain $tax", ({ amount, rate, currency, tax }) => {
  expect(computeIncludedTax(nano(amount), { name: "VAT", rate, note: null }, currency)).toBe(tax);
});

test("tax ids of EU countries begin with the country's letters", () => {
  expect(isTaxIdOf("DE", "DE123456789")).toBe(true);
  expect(isTaxIdOf("GR", "EL123456789")).toBe(true);
  expect(isTaxIdOf("GR", "GR123456789")).toBe(false);
  expect(isTaxIdOf("DE", "FR123456789")).toBe(false);
  expect(isTaxIdOf("DE", "DE")).toBe(false);
  expect(isTaxIdOf("US", "12-3456789")).toBe(true);
});

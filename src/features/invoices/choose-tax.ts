import { findSmallest } from "../../lib/currency.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type { InvoiceTerms, TaxRule } from "./invoice-terms.ts";

const euCountries = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split(" ");

/** The tax of a document. The rate is in thousandths of a percent, so that 8.875 % is exact. */
export type Tax = { name: string; rate: number; note: string | null };

type Buyer = { country: string | null; taxId: string | null };

/** The first rule that matches. A buyer without a country is taxed as one in the seller's. `null` without rules. */
export function chooseTax({ seller, tax = [] }: InvoiceTerms, { country, taxId }: Buyer): Tax | null {
  const place = country ?? seller.country;
  const rule = tax.find((candidate) => matchesCountry(candidate, place) && matchesTaxId(candidate, taxId));
  if (rule === undefined) return null;
  return { name: rule.name ?? "VAT", rate: Math.round(rule.rate * 1000), note: rule.note ?? null };
}

function matchesCountry({ country }: TaxRule, place: string): boolean {
  return country === "*" || country === place || (country === "EU" && euCountries.includes(place));
}

function matchesTaxId({ tax_id: wanted }: TaxRule, taxId: string | null): boolean {
  return wanted === undefined || (wanted === "with") === (taxId !== null);
}

/** The tax in an amount that includes it, rounded once, to the smallest amount of the currency. */
export function computeIncludedTax(amount: Nano, { rate }: Tax, currency: string): Nano {
  const share = BigInt(rate);
  const whole = 100_000n + share;
  // Rounded from the exact fraction: half of the smallest amount goes up.
  const smallest = findSmallest(currency);
  return nano(((2n * amount * share + whole * smallest) / (2n * whole * smallest)) * smallest);
}

/** Such as `19 %`. */
export function presentRate(rate: number): string {
  return `${rate / 1000} %`;
}

// The formats that the EU's countries publish, without checksums: letters, digits, length.
const euTaxId = /^(?:EL|[A-Z]{2})[0-9A-Z+*]{2,12}$/;

/** Tax ids of the EU begin with the country, which is EL for Greece. */
export function isTaxIdOf(country: string | null, taxId: string): boolean {
  if (country === null || !euCountries.includes(country)) return true;
  return euTaxId.test(taxId) && taxId.startsWith(country === "GR" ? "EL" : country);
}

import { presentWithCurrency } from "../../lib/currency.ts";
import { type Nano, nano } from "../../lib/money.ts";
import type {
  BillingDetails,
  Buyer,
  DocumentContent,
  DocumentTax,
  IssuedDocument,
  Seller,
} from "./billing-document.ts";
import { chooseTax, computeIncludedTax, presentRate, type Tax } from "./choose-tax.ts";
import type { Reversal } from "./decide-documents.ts";
import { type InvoiceTerms, presentNumber } from "./invoice-terms.ts";

type Parties = { terms: InvoiceTerms; buyer: Buyer };

/** A payment that documents are issued for. */
export type Payment = {
  /** The checkout, or the transaction of a payment that an operator booked. */
  id: string;
  /** The way the money came in, as the ledger names it. */
  channel: string;
  amount: Nano;
  currency: string;
  paidAt: Date;
};

const channelNames: Readonly<Record<string, string>> = {
  stripe: "Card, through Stripe",
  external: "Other payment provider",
  operator: "Bank transfer or other payment",
};

export function describeSeller({ seller }: InvoiceTerms): Seller {
  return {
    name: seller.name,
    address: seller.address.trim(),
    country: seller.country,
    taxId: seller.tax_id ?? null,
    email: seller.email ?? null,
    registration: seller.registration ?? null,
  };
}

function describeCommon({ terms, buyer }: Parties) {
  return { layout: 1, seller: describeSeller(terms), buyer, footer: terms.footer ?? null } as const;
}

/** The invoice of a payment, which is also its receipt. */
export function writeInvoice(parties: Parties, payment: Payment): DocumentContent {
  const { terms, buyer } = parties;
  const tax = chooseTax(terms, buyer);
  return {
    ...describeCommon(parties),
    title: "Invoice and receipt",
    facts: describePayment(payment),
    lines: [{ text: "Prepaid credit for API usage", amount: String(payment.amount) }],
    tax: splitTax(tax, payment.amount, payment.currency),
    totalName: "Total, paid",
    total: String(payment.amount),
    remark: "The credit was added to the account when the payment was confirmed. Nothing is left to pay.",
  };
}

type Correction = { invoice: IssuedDocument; reversal: Reversal; amount: Nano; tax: DocumentTax | null };

/** Credits a refunded or disputed part of a payment. The parties are those of the invoice. */
export function writeCreditNote(payment: Payment, correction: Correction): DocumentContent {
  const { invoice, reversal, amount, tax } = correction;
  const reason = reversal.kind === "refund" ? "Refund of prepaid credit" : "Prepaid credit of a disputed payment";
  return {
    ...copyParties(invoice),
    title: "Credit note",
    facts: describeCorrection(payment, correction),
    lines: [{ text: reason, amount: String(amount) }],
    tax,
    totalName: "Total, credited",
    total: String(amount),
    remark: `Corrects the invoice ${presentNumber(invoice)}.`,
  };
}

/** Takes a credit note back, after a refund failed or a dispute was won. */
export function writeReinstatement(payment: Payment, correction: Correction): DocumentContent {
  const { invoice, reversal, amount, tax } = correction;
  const reason =
    reversal.kind === "refund" ? "Prepaid credit: the refund failed" : "Prepaid credit: the dispute was won";
  return {
    ...copyParties(invoice),
    title: "Invoice and receipt",
    facts: describeCorrection(payment, correction),
    lines: [{ text: reason, amount: String(amount) }],
    tax,
    totalName: "Total, paid",
    total: String(amount),
    remark: `Takes back the credit of invoice ${presentNumber(invoice)}. Nothing is left to pay.`,
  };
}

function copyParties({ content: { layout, seller, buyer, footer } }: IssuedDocument) {
  return { layout, seller, buyer, footer };
}

function describePayment({ id, channel, paidAt }: Payment) {
  return [
    { name: "Paid on", value: presentDay(paidAt) },
    { name: "Paid by", value: channelNames[channel] ?? channel },
    { name: "Payment", value: id },
  ];
}

function describeCorrection(payment: Payment, { invoice, reversal }: Correction) {
  return [
    { name: "Invoice", value: `${presentNumber(invoice)} of ${presentDay(invoice.issuedAt)}` },
    { name: reversal.kind === "refund" ? "Refund" : "Dispute", value: reversal.id },
    ...describePayment(payment),
  ];
}

export function presentDay(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

function splitTax(tax: Tax | null, amount: Nano, currency: string): DocumentTax | null {
  return tax === null ? null : describeTax(tax, amount, computeIncludedTax(amount, tax, currency));
}

function describeTax({ name, rate, note }: Tax, amount: Nano, tax: Nano): DocumentTax {
  return { name, rate, note, net: String(amount - tax), tax: String(tax) };
}

/**
 * The tax of a correction, at the invoice's rate. It is the difference between the taxes of what was credited before and
 * after, so that rounding never adds up: an invoice credited in parts has all of its tax credited.
 */
export function splitCorrectedTax(
  invoice: IssuedDocument,
  { before, after }: { before: bigint; after: bigint },
): DocumentTax | null {
  const { tax } = invoice.content;
  if (tax === null) return null;
  const taxOf = (credited: bigint): bigint => computeIncludedTax(nano(credited), tax, invoice.currency);
  const [change, changeOfTax] = [after - before, taxOf(after) - taxOf(before)];
  const sign = change < 0n ? -1n : 1n;
  return describeTax(tax, nano(sign * change), nano(sign * changeOfTax));
}

/** Such as `19 % VAT`, for the totals. */
export function nameTax({ name, rate }: Pick<DocumentTax, "name" | "rate">): string {
  return `${name} ${presentRate(rate)}`;
}

export function describeBuyer(
  details: BillingDetails,
  { accountId, email }: Pick<Buyer, "accountId" | "email">,
): Buyer {
  return { ...details, accountId, email };
}

export function presentTotal({ total, currency }: Pick<IssuedDocument, "total" | "currency">): string {
  return presentWithCurrency(total, currency);
}

import { hash } from "node:crypto";
import type { AccountId } from "../../lib/ids.ts";
import type { Nano } from "../../lib/money.ts";
import type { DocumentKind } from "./invoice-terms.ts";

export type DocumentId = `doc_${string}`;

/** What an account's owner wants on later documents. */
export type BillingDetails = {
  legalName: string | null;
  address: string | null;
  country: string | null;
  taxId: string | null;
  purchaseOrder: string | null;
};

/** An amount that is stored as text: JSON numbers would lose digits. */
type StoredNano = string;

export type Seller = {
  name: string;
  address: string;
  country: string;
  taxId: string | null;
  email: string | null;
  registration: string | null;
};

export type Buyer = BillingDetails & { accountId: AccountId; email: string };

export type DocumentTax = { name: string; rate: number; note: string | null; net: StoredNano; tax: StoredNano };

/** The words of a document, in the form in which they are drawn. */
export type DocumentContent = {
  /** The drawing that this document was issued with. A later drawing gets another number. */
  layout: 1;
  title: string;
  seller: Seller;
  buyer: Buyer;
  /** Rows under the heading, such as the payment and what is corrected. */
  facts: { name: string; value: string }[];
  lines: { text: string; amount: StoredNano; isSum?: true }[];
  tax: DocumentTax | null;
  totalName: string;
  total: StoredNano;
  remark: string | null;
  footer: string | null;
};

/** A document that was issued. It never changes. */
export type IssuedDocument = {
  id: DocumentId;
  accountId: AccountId;
  kind: DocumentKind;
  prefix: string;
  number: bigint;
  issuedAt: Date;
  currency: string;
  /** What the document states: paid, credited, or left at the end of the month. It includes the tax. */
  total: Nano;
  tax: Nano;
  paymentId: string | null;
  channel: string | null;
  corrects: DocumentId | null;
  reversalId: string | null;
  /** Such as `2026-11`. */
  month: string | null;
  content: DocumentContent;
};

/** `position` orders all documents. */
export type BillingDocument = IssuedDocument & { position: bigint };

/** Derived from the number, which is unique in its kind. */
export function deriveDocumentId(kind: DocumentKind, number: string): DocumentId {
  return `doc_${hash("sha256", `${kind}\n${number}`, "hex").slice(0, 26)}`;
}

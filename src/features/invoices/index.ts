/**
 * Invoices, credit notes and monthly statements.
 *
 * Promises: a payment has one invoice, which commits with its credit; a refund or dispute has its credit note. Numbers have no
 * gaps in their series: a number and its document commit together. A document stores what it says, and its PDF is drawn from
 * that: later changes of the seller, the buyer or the tax rules do not reach it. Documents equal the ledger's entries.
 */
export { applyTerms } from "./apply-terms.ts";
export type { BillingDocument } from "./billing-document.ts";
export { bookPayment } from "./book-payment.ts";
export { findDocument, findTerms, listDocuments } from "./document-store.ts";
export { addInvoiceRoutes } from "./invoice-routes.ts";
export { documentKinds, parseNumber, presentNumber } from "./invoice-terms.ts";
export { issueDocuments } from "./issue-documents.ts";
export { issueStatements } from "./issue-statements.ts";
export { renderDocument } from "./render-document.ts";

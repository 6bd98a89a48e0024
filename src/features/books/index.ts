/**
 * The operator's books: double entries of all customers by day, derived from the ledger's postings and the issued documents.
 *
 * Promises: on every day, debit equals credit. Nothing is stored, so the books cannot differ from the ledger.
 */
export type { BookLine } from "./books-store.ts";
export { findMonthEnd, readBooks, splitPeriod } from "./read-books.ts";

/**
 * Quotes: the most that a paid request can cost, before it is sent, and an id that caps its charge.
 *
 * Promises: a quote comes from the plan that the request's own endpoint makes, so its maximum is the endpoint's hold. A
 * request with `X-Quote-Id` holds and costs at most its quote, whatever happens to prices. The id is sealed, not stored:
 * calls without it cost nothing more. A quote is for one account, one request and one model, and for 15 minutes.
 */
export { createQuotes, type OpenedQuote, type Quotes } from "./create-quotes.ts";
export type { Quotable, QuoteAsked, QuotedEstimate, QuotedTerms } from "./quotable.ts";
export { quoteErrors } from "./quote-errors.ts";
export { addQuoteRoutes } from "./quote-routes.ts";

import { countCurrencyPlaces, roundToCurrency } from "../../lib/currency.ts";
import { inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { bookCredit, type CreditRequest } from "../ledger/index.ts";
import { findTerms } from "./document-store.ts";
import { issueDocuments } from "./issue-documents.ts";

type Dependencies = Parameters<typeof bookCredit>[0] & { currency: string };

type PaymentRequest = CreditRequest & { booking: { kind: "top-up" } };

/** Books a payment that an operator received, such as a bank transfer, together with its invoice. */
export async function bookPayment(
  { database, currency, ...parts }: Dependencies,
  request: PaymentRequest,
): ReturnType<typeof bookCredit> {
  const { amount } = request.booking;
  return await inTransaction(database, async (tx) => {
    const booked = await bookCredit({ ...parts, database: tx }, request);
    if (booked.isReplay || (await findTerms(tx)) === null) return booked;
    if (roundToCurrency(amount, currency) !== amount) throw createTooFine(currency);
    const now = parts.clock.now();
    const payment = { id: booked.transactionId, accountId: request.accountId, channel: "operator", amount, currency };
    await issueDocuments(tx, { ...payment, paidAt: now, reversals: [] }, now);
    return booked;
  });
}

function createTooFine(currency: string): AppError {
  const places = countCurrencyPlaces(currency);
  const form = places === 0 ? "no decimal places" : `at most ${places} decimal places`;
  return new AppError("invalid_parameter", `A payment in ${currency} has ${form}: its invoice shows the same amount.`, {
    param: "amount",
  });
}

import type { AccountId } from "../../lib/ids.ts";
import { invariant } from "../../lib/invariant.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import { findAccount } from "../accounts/index.ts";
import { insertNotice } from "../notices/index.ts";
import { type Buyer, type DocumentContent, deriveDocumentId, type IssuedDocument } from "./billing-document.ts";
import { decideDocuments, type MissingDocument, type Reversal, sumAllCredited } from "./decide-documents.ts";
import {
  findBillingDetails,
  findFirstTerms,
  findTerms,
  insertDocument,
  listPaymentDocuments,
  takeNumber,
} from "./document-store.ts";
import { findPrefix, type InvoiceTerms, presentNumber } from "./invoice-terms.ts";
import {
  describeBuyer,
  type Payment,
  presentTotal,
  splitCorrectedTax,
  writeCreditNote,
  writeInvoice,
  writeReinstatement,
} from "./write-content.ts";

export type DocumentedPayment = Payment & { accountId: AccountId; reversals: readonly Reversal[] };

/**
 * Issues the documents that a payment lacks, in the transaction that credits or reverses it: the number and the money commit
 * together. Call it last and under the payment's lock; it takes the locks of the series. Without terms, nothing is issued.
 */
export async function issueDocuments(tx: Database, payment: DocumentedPayment, now: Date): Promise<void> {
  const applied = await findTerms(tx);
  if (applied === null) return;
  const issued = await listPaymentDocuments(tx, payment.id);
  const first = applied.version === 1 ? applied : await findFirstTerms(tx);
  const mayBegin = first !== null && payment.paidAt >= first.appliedAt;
  const missing = decideDocuments(issued, { ...payment, mayBegin });
  if (missing.length === 0) return;
  const { terms } = applied;
  const buyer = await readBuyer(tx, payment.accountId);
  const numbers = await takeNumbers(tx, missing, { terms, now });
  let invoice: IssuedDocument | null = issued.find(({ reversalId }) => reversalId === null) ?? null;
  let before = sumAllCredited(issued);
  for (const [index, draft] of missing.entries()) {
    const taken = numbers[index];
    invariant(taken !== undefined, "each document has a number");
    const after = before + countCredited(draft);
    const content = writeContent(payment, draft, { terms, buyer, invoice, before, after });
    const document = describeDocument(payment, draft, { ...taken, content, invoice, now });
    await insertDocument(tx, document);
    await notifyOwner(tx, document, now);
    before = after;
    invoice ??= document;
  }
}

function countCredited({ kind, reversal, amount }: MissingDocument): bigint {
  if (reversal === null) return 0n;
  return kind === "credit_note" ? amount : -amount;
}

/** In one order, so that transactions which issue several kinds cannot deadlock. */
async function takeNumbers(
  tx: Database,
  missing: readonly MissingDocument[],
  { terms, now }: { terms: InvoiceTerms; now: Date },
): Promise<{ prefix: string; number: bigint }[]> {
  const numbers: { prefix: string; number: bigint }[] = [];
  const inOrder = [...missing.entries()].toSorted(([, a], [, b]) => a.kind.localeCompare(b.kind));
  for (const [index, { kind }] of inOrder) {
    const prefix = findPrefix(terms, kind, now);
    numbers[index] = { prefix, number: await takeNumber(tx, kind, prefix) };
  }
  return numbers;
}

type Surroundings = {
  terms: InvoiceTerms;
  buyer: Buyer;
  /** `null` for the invoice itself. */
  invoice: IssuedDocument | null;
  /** What was credited of the payment before this document and after it. */
  before: bigint;
  after: bigint;
};

function writeContent(
  payment: Payment,
  { kind, reversal, amount }: MissingDocument,
  { terms, buyer, invoice, before, after }: Surroundings,
): DocumentContent {
  if (reversal === null) return writeInvoice({ terms, buyer }, payment);
  invariant(invoice !== null, "a correction has an invoice");
  const correction = { invoice, reversal, amount, tax: splitCorrectedTax(invoice, { before, after }) };
  return kind === "credit_note" ? writeCreditNote(payment, correction) : writeReinstatement(payment, correction);
}

type Described = Pick<Surroundings, "invoice"> & Pick<IssuedDocument, "prefix" | "number" | "content"> & { now: Date };

function describeDocument(
  { id, accountId, channel, currency }: DocumentedPayment,
  { kind, reversal, amount }: MissingDocument,
  { prefix, number, content, invoice, now }: Described,
): IssuedDocument {
  return {
    ...{ accountId, kind, prefix, number, currency, channel, content },
    id: deriveDocumentId(kind, presentNumber({ prefix, number })),
    issuedAt: now,
    total: amount,
    tax: nano(BigInt(content.tax?.tax ?? 0)),
    paymentId: id,
    corrects: reversal === null ? null : (invoice?.id ?? null),
    reversalId: reversal?.id ?? null,
    month: null,
  };
}

export async function readBuyer(tx: Database, accountId: AccountId): Promise<Buyer> {
  const account = await findAccount(tx, accountId);
  invariant(account !== null, `there is no account ${accountId}`);
  return describeBuyer(await findBillingDetails(tx, accountId), { accountId, email: account.email });
}

async function notifyOwner(tx: Database, document: IssuedDocument, now: Date): Promise<void> {
  const { id, accountId, kind } = document;
  const facts = { title: document.content.title, number: presentNumber(document), amount: presentTotal(document) };
  const notice = kind === "credit_note" ? ("credit_note" as const) : ("invoice" as const);
  await insertNotice(tx, { id: `document:${id}`, accountId, kind: notice, facts }, now);
}

import { type Selectable, sql } from "kysely";
import type { AccountId } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Tables } from "../../platform/database/tables.ts";
import type {
  BillingDetails,
  BillingDocument,
  DocumentContent,
  DocumentId,
  IssuedDocument,
} from "./billing-document.ts";
import type { AppliedTerms, DocumentKind, InvoiceTerms } from "./invoice-terms.ts";

/** The terms in force; `null` before the operator applied any. */
export async function findTerms(database: Database): Promise<AppliedTerms | null> {
  const row = await selectTerms(database).orderBy("version", "desc").limit(1).executeTakeFirst();
  return row === undefined ? null : toTerms(row);
}

/** Payments before these terms get no documents. */
export async function findFirstTerms(database: Database): Promise<AppliedTerms | null> {
  const row = await selectTerms(database).orderBy("version").limit(1).executeTakeFirst();
  return row === undefined ? null : toTerms(row);
}

function selectTerms(database: Database) {
  return database.selectFrom("invoice_terms").selectAll();
}

export async function insertTerms(tx: Database, { version, terms, actor, appliedAt }: AppliedTerms): Promise<void> {
  const row = { version, terms: JSON.stringify(terms), actor, applied_at: appliedAt };
  await tx.insertInto("invoice_terms").values(row).execute();
}

function toTerms(row: Selectable<Tables["invoice_terms"]>): AppliedTerms {
  // Only checked terms are inserted.
  return { version: row.version, terms: row.terms as InvoiceTerms, actor: row.actor, appliedAt: row.applied_at };
}

export async function findBillingDetails(database: Database, accountId: AccountId): Promise<BillingDetails> {
  const row = await database
    .selectFrom("billing_details")
    .selectAll()
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return {
    legalName: row?.legal_name ?? null,
    address: row?.address ?? null,
    country: row?.country ?? null,
    taxId: row?.tax_id ?? null,
    purchaseOrder: row?.purchase_order ?? null,
  };
}

/** Serializes changes, so that each is checked with the others. */
export async function lockBillingDetails(tx: Database, accountId: AccountId): Promise<void> {
  await sql`select 1 from accounts where id = ${accountId} for no key update`.execute(tx);
}

export async function putBillingDetails(
  database: Database,
  accountId: AccountId,
  { details, now }: { details: BillingDetails; now: Date },
): Promise<void> {
  const columns = {
    legal_name: details.legalName,
    address: details.address,
    country: details.country,
    tax_id: details.taxId,
    purchase_order: details.purchaseOrder,
    changed_at: now,
  };
  await database
    .insertInto("billing_details")
    .values({ account_id: accountId, ...columns })
    .onConflict((conflict) => conflict.column("account_id").doUpdateSet(columns))
    .execute();
}

/** The series' row stays locked until the transaction ends. Lock order: checkout, wallet, then series by kind and prefix. */
export async function takeNumber(tx: Database, kind: DocumentKind, prefix: string): Promise<bigint> {
  const { last_number: number } = await tx
    .insertInto("document_series")
    .values({ kind, prefix, last_number: 1n })
    .onConflict((conflict) =>
      conflict.columns(["kind", "prefix"]).doUpdateSet((eb) => ({
        last_number: eb("document_series.last_number", "+", 1n),
      })),
    )
    .returning("last_number")
    .executeTakeFirstOrThrow();
  return number;
}

export async function insertDocument(tx: Database, document: IssuedDocument): Promise<void> {
  await tx
    .insertInto("billing_documents")
    .values({
      id: document.id,
      account_id: document.accountId,
      kind: document.kind,
      prefix: document.prefix,
      number: document.number,
      issued_at: document.issuedAt,
      currency: document.currency,
      total_nano: document.total,
      tax_nano: document.tax,
      payment_id: document.paymentId,
      channel: document.channel,
      corrects: document.corrects,
      reversal_id: document.reversalId,
      month: document.month,
      content: JSON.stringify(document.content),
    })
    .execute();
}

/** The documents of a payment, in the order in which they were issued. */
export async function listPaymentDocuments(database: Database, paymentId: string): Promise<BillingDocument[]> {
  const rows = await selectDocuments(database).where("payment_id", "=", paymentId).orderBy("position").execute();
  return rows.map(toDocument);
}

/** Operators omit `accountId`. */
export async function findDocument(
  database: Database,
  { id, accountId }: { id: string; accountId?: AccountId },
): Promise<BillingDocument | null> {
  let query = selectDocuments(database).where("id", "=", id);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toDocument(row);
}

type DocumentFilter = {
  accountId?: AccountId;
  kind?: DocumentKind;
  number?: { prefix: string; number: bigint };
  from?: Date | null;
  to?: Date | null;
  /** The position of the previous page's last document. */
  before?: bigint | null;
  limit: number;
};

/** Newest first. */
export async function listDocuments(
  database: Database,
  { accountId, kind, number, from = null, to = null, before = null, limit }: DocumentFilter,
): Promise<BillingDocument[]> {
  let query = selectDocuments(database);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  if (kind !== undefined) query = query.where("kind", "=", kind);
  if (number !== undefined) query = query.where("prefix", "=", number.prefix).where("number", "=", number.number);
  if (from !== null) query = query.where("issued_at", ">=", from);
  if (to !== null) query = query.where("issued_at", "<", to);
  if (before !== null) query = query.where("position", "<", before);
  return (await query.orderBy("position", "desc").limit(limit).execute()).map(toDocument);
}

function selectDocuments(database: Database) {
  return database.selectFrom("billing_documents").selectAll();
}

function toDocument(row: Selectable<Tables["billing_documents"]>): BillingDocument {
  return {
    position: row.position,
    // Only `issueDocuments` and `issueStatements` insert documents.
    id: row.id as DocumentId,
    accountId: row.account_id as AccountId,
    kind: row.kind as DocumentKind,
    prefix: row.prefix,
    number: row.number,
    issuedAt: row.issued_at,
    currency: row.currency,
    total: nano(row.total_nano),
    tax: nano(row.tax_nano),
    paymentId: row.payment_id,
    channel: row.channel,
    corrects: row.corrects as DocumentId | null,
    reversalId: row.reversal_id,
    month: row.month,
    content: row.content as DocumentContent,
  };
}

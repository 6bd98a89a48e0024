import { type Static, Type } from "typebox";
import { presentMoney } from "../../lib/money.ts";
import type { BillingDetails, BillingDocument } from "./billing-document.ts";
import { documentKinds, presentNumber } from "./invoice-terms.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const details = {
  legal_name: nullable(
    Type.String({ maxLength: 200, examples: ["Example GmbH"] }),
    "The name on documents. Without one, they have the account's mail address.",
  ),
  address: nullable(Type.String({ maxLength: 500 }), "Up to 6 lines, without the country."),
  country: nullable(
    Type.String({ maxLength: 2, examples: ["DE"] }),
    "ISO 3166-1, two letters. It decides which tax applies.",
  ),
  tax_id: nullable(
    Type.String({ maxLength: 40, examples: ["DE123456789"] }),
    "In the EU, it begins with the letters of the country.",
  ),
  purchase_order: nullable(Type.String({ maxLength: 100 }), "A reference of yours that documents show."),
};

export const billingDetailsSchema = Type.Object({
  object: Type.Literal("billing_details"),
  has_documents: Type.Boolean({ description: "Whether the operator issues documents." }),
  ...details,
});

export const detailsChangeSchema = Type.Object(
  {
    legal_name: Type.Optional(details.legal_name),
    address: Type.Optional(details.address),
    country: Type.Optional(details.country),
    tax_id: Type.Optional(details.tax_id),
    purchase_order: Type.Optional(details.purchase_order),
  },
  { additionalProperties: false, minProperties: 1 },
);

const documentSchema = Type.Object({
  object: Type.Literal("document"),
  id: Type.String({ examples: ["doc_4c6b8a0e2f01d2c3b4a5968778"] }),
  kind: Type.Enum([...documentKinds], { description: "An `invoice` is the receipt of a payment, too." }),
  number: Type.String({ examples: ["INV-000042"] }),
  issued: Type.Integer({ description: "Unix time in seconds." }),
  currency: Type.String(),
  total: Type.String({ examples: ["20.00"], description: "Paid or credited, or the balance at the end of the month." }),
  tax: nullable(Type.String({ examples: ["3.19"] }), "The tax in `total`; `null` if none was stated."),
  checkout_id: nullable(Type.String(), "The payment; `null` for one outside this site, and for statements."),
  corrects: nullable(Type.String(), "The invoice that this document corrects."),
  month: nullable(Type.String({ examples: ["2026-11"] }), "The month of a statement."),
});

export const documentQuerySchema = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    after: Type.Optional(Type.String({ pattern: "^doc_[0-9a-f]{26}$", description: "A `next_cursor`." })),
  },
  { additionalProperties: false },
);

export const documentListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(documentSchema),
  has_more: Type.Boolean(),
  next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `after` to get the next page." }),
});

export function presentDetails(
  { legalName, address, country, taxId, purchaseOrder }: BillingDetails,
  hasDocuments: boolean,
): Static<typeof billingDetailsSchema> {
  return {
    object: "billing_details",
    has_documents: hasDocuments,
    legal_name: legalName,
    address,
    country,
    tax_id: taxId,
    purchase_order: purchaseOrder,
  };
}

function presentDocument(document: BillingDocument): Static<typeof documentSchema> {
  const { id, kind, issuedAt, currency, total, tax, content, paymentId, corrects, month } = document;
  return {
    object: "document",
    ...{ id, kind, currency, corrects, month },
    number: presentNumber(document),
    issued: Math.floor(issuedAt.getTime() / 1000),
    total: presentMoney(total),
    tax: content.tax === null ? null : presentMoney(tax),
    checkout_id: paymentId?.startsWith("chk_") === true ? paymentId : null,
  };
}

/** `documents` has one row more than the page if there is a next page. */
export function presentDocuments(
  documents: readonly BillingDocument[],
  { limit }: { limit: number },
): Static<typeof documentListSchema> {
  const hasMore = documents.length > limit;
  const page = documents.slice(0, limit);
  const next_cursor = hasMore ? (page.at(-1)?.id ?? null) : null;
  return { object: "list", data: page.map(presentDocument), has_more: hasMore, next_cursor };
}

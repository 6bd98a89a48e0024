import { type Static, Type } from "typebox";
import type { AccountId } from "../../../lib/ids.ts";
import { presentMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import {
  type BillingDocument,
  documentKinds,
  findDocument,
  listDocuments,
  parseNumber,
  presentNumber,
  renderDocument,
} from "../../invoices/index.ts";
import { createPageSchema, createUnknownCursor, listFields, presentPage } from "../../usage/index.ts";
import { findAccountEmails } from "../accounts/account-email-store.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { parseMoment } from "../edge/moment-field.ts";
import { fromField, toField } from "./money-admin-schema.ts";

const usualLimit = 20;

const querySchema = Type.Object(
  {
    account_id: Type.Optional(Type.String({ pattern: "^acct_[0-9a-z]{1,64}$" })),
    kind: Type.Optional(Type.Enum([...documentKinds])),
    number: Type.Optional(Type.String({ minLength: 1, maxLength: 60, examples: ["INV-000042"] })),
    from: fromField,
    to: toField,
    ...listFields("^doc_[0-9a-f]{26}$"),
  },
  { additionalProperties: false },
);

const maybeText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const documentSchema = Type.Object({
  object: Type.Literal("document"),
  id: Type.String(),
  kind: Type.Enum([...documentKinds]),
  number: Type.String({ examples: ["INV-000042"] }),
  issued_at: Type.String({ format: "date-time" }),
  account_id: Type.String(),
  email: maybeText("The account's present address."),
  currency: Type.String(),
  total: Type.String({ description: "Paid or credited, or the balance at the end of the month." }),
  tax: maybeText("The tax in `total`; `null` if none was stated."),
  channel: maybeText("How the payment came, such as `stripe` or `operator`."),
  payment_id: maybeText("The payment; `null` for statements."),
  corrects: maybeText("The document that this one corrects."),
  month: maybeText("The month of a statement."),
});

export function addDocumentAdminRoutes(http: HttpServer, { database }: AdminDependencies): void {
  const list = describeAdminEndpoint("listDocuments");
  http.get(
    "/documents",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List invoices, credit notes and statements of all accounts",
        description: "Newest first.",
        querystring: querySchema,
        response: { 200: createPageSchema(documentSchema), ...list.errors },
      },
    },
    async ({ query: { account_id: accountId, kind, number, from, to, limit = usualLimit, after } }) => {
      const last = after === undefined ? null : await findDocument(database, { id: after });
      if (after !== undefined && last === null) throw createUnknownCursor();
      const named = number === undefined ? null : parseNumber(number.trim());
      if (number !== undefined && named === null) {
        throw new AppError("invalid_parameter", "A number has a prefix and digits, such as INV-000042.", {
          param: "number",
        });
      }
      const documents = await listDocuments(database, {
        ...(accountId === undefined ? {} : { accountId: accountId as AccountId }),
        ...(kind === undefined ? {} : { kind }),
        ...(named === null ? {} : { number: named }),
        ...{ from: parseMoment(from, "from"), to: parseMoment(to, "to") },
        ...{ before: last?.position ?? null, limit: limit + 1 },
      });
      const emails = await findAccountEmails(
        database,
        documents.map((document) => document.accountId),
      );
      return presentPage(documents, limit, (document) => present(document, emails.get(document.accountId) ?? null));
    },
  );
  const pdf = describeAdminEndpoint("getDocumentPdf");
  http.get(
    "/documents/:document_id/pdf",
    {
      config: pdf.config,
      schema: {
        ...pdf.schema,
        summary: "Get a document as PDF",
        description: "The same bytes that its owner downloads.",
        params: pathParams({ document_id: "document" }),
        response: { 200: Type.Unsafe<Buffer>(Type.String({ format: "binary" })), ...pdf.errors },
      },
    },
    async ({ params }, reply) => {
      const document = await findDocument(database, { id: params.document_id });
      if (document === null) throw new AppError("not_found", "There is no such document.", { param: "document_id" });
      reply.type("application/pdf");
      reply.header("content-disposition", `attachment; filename="${presentNumber(document)}.pdf"`);
      return await renderDocument(document);
    },
  );
}

function present(document: BillingDocument, email: string | null): Static<typeof documentSchema> {
  const { id, kind, issuedAt, accountId, currency, total, tax, content, channel, paymentId, corrects, month } =
    document;
  return {
    object: "document",
    ...{ id, kind, number: presentNumber(document), issued_at: issuedAt.toISOString() },
    ...{ account_id: accountId, email, currency, total: presentMoney(total) },
    tax: content.tax === null ? null : presentMoney(tax),
    ...{ channel, payment_id: paymentId, corrects, month },
  };
}

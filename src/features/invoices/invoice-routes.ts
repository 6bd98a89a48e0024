import { Type } from "typebox";
import type { Clock } from "../../lib/clock.ts";
import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import { consoleErrors, getSession } from "../../platform/http/console-edge.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { pathParams } from "../../platform/http/path-params.ts";
import type { BillingDocument } from "./billing-document.ts";
import { changeDetails } from "./change-details.ts";
import { findBillingDetails, findDocument, findTerms, listDocuments } from "./document-store.ts";
import {
  billingDetailsSchema,
  detailsChangeSchema,
  documentListSchema,
  documentQuerySchema,
  presentDetails,
  presentDocuments,
} from "./invoice-schema.ts";
import { presentNumber } from "./invoice-terms.ts";
import { renderDocument } from "./render-document.ts";

type Dependencies = { database: Database; clock: Clock };

const tags = ["Payments"];

export function addInvoiceRoutes(http: HttpServer, dependencies: Dependencies): void {
  addDetails(http, dependencies);
  addList(http, dependencies);
  addPdf(http, dependencies);
}

function addDetails(http: HttpServer, { database, clock }: Dependencies): void {
  http.get(
    "/billing_details",
    {
      schema: {
        operationId: "getBillingDetails",
        summary: "Get the billing details",
        tags,
        response: { 200: billingDetailsSchema, ...consoleErrors("GET") },
      },
    },
    async (request) => {
      const details = await findBillingDetails(database, getSession(request).accountId);
      return presentDetails(details, (await findTerms(database)) !== null);
    },
  );
  http.patch(
    "/billing_details",
    {
      schema: {
        operationId: "updateBillingDetails",
        summary: "Change the billing details",
        description: `What later invoices, credit notes and statements show. Those that were issued stay as they are. Absent
fields stay, \`null\` removes one.`,
        tags,
        body: detailsChangeSchema,
        response: { 200: billingDetailsSchema, ...consoleErrors("PATCH") },
      },
    },
    async (request) => {
      const { legal_name: legalName, address, country, tax_id: taxId, purchase_order: purchaseOrder } = request.body;
      const changes = {
        ...(legalName === undefined ? {} : { legalName }),
        ...(address === undefined ? {} : { address }),
        ...(country === undefined ? {} : { country }),
        ...(taxId === undefined ? {} : { taxId }),
        ...(purchaseOrder === undefined ? {} : { purchaseOrder }),
      };
      const { accountId } = getSession(request);
      const details = await changeDetails({ database, clock }, { accountId, changes });
      return presentDetails(details, (await findTerms(database)) !== null);
    },
  );
}

function addList(http: HttpServer, { database }: Dependencies): void {
  http.get(
    "/documents",
    {
      schema: {
        operationId: "listDocuments",
        summary: "List invoices, credit notes and statements",
        description: "Newest first.",
        tags,
        querystring: documentQuerySchema,
        response: { 200: documentListSchema, ...consoleErrors("GET", ["invalid_parameter", "unknown_parameter"]) },
      },
    },
    async (request) => {
      const { limit, after } = request.query;
      const { accountId } = getSession(request);
      const last = after === undefined ? null : await findDocument(database, { id: after, accountId });
      if (after !== undefined && last === null) throw createUnknownCursor();
      const before = last?.position ?? null;
      return presentDocuments(await listDocuments(database, { accountId, before, limit: limit + 1 }), { limit });
    },
  );
}

function createUnknownCursor(): AppError {
  return new AppError("invalid_parameter", "`after` is not a cursor of this list.", { param: "after" });
}

const drawingsMax = 16;

/** Keeps the last drawings: one takes a tenth of a second of CPU time, and its bytes never change. */
function createDrawings(): (document: BillingDocument) => Promise<Buffer> {
  const kept = new Map<string, Promise<Buffer>>();
  return (document) => {
    const drawing = kept.get(document.id) ?? renderDocument(document);
    kept.delete(document.id);
    kept.set(document.id, drawing);
    const [oldest] = kept.keys();
    if (kept.size > drawingsMax && oldest !== undefined) kept.delete(oldest);
    drawing.catch(() => kept.delete(document.id));
    return drawing;
  };
}

function addPdf(http: HttpServer, { database }: Dependencies): void {
  const draw = createDrawings();
  http.get(
    "/documents/:id/pdf",
    {
      schema: {
        operationId: "getDocumentPdf",
        summary: "Get a document as PDF",
        description: "Drawn from what was stored when the document was issued: the same bytes each time.",
        tags,
        params: pathParams({ id: "document" }),
        ...describeAnswers({ 200: { types: ["application/pdf"], always: ["content-disposition"] } }),
        response: {
          200: Type.Unsafe<Buffer>(Type.String({ format: "binary" })),
          ...consoleErrors("GET", ["not_found"]),
        },
      },
    },
    async (request, reply) => {
      const { accountId } = getSession(request);
      const document = await requireDocument(database, { id: request.params.id, accountId });
      reply.type("application/pdf");
      reply.header("content-disposition", `attachment; filename="${presentNumber(document)}.pdf"`);
      return await draw(document);
    },
  );
}

async function requireDocument(
  database: Database,
  { id, accountId }: { id: string; accountId: AccountId },
): Promise<BillingDocument> {
  const document = await findDocument(database, { id, accountId });
  if (document !== null) return document;
  throw new AppError("not_found", "There is no such document.", { param: "id" });
}

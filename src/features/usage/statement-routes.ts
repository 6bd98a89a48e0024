import { Readable } from "node:stream";
import { type Static, Type } from "typebox";
import type { Database } from "../../platform/database/database.ts";
import { describeAnswers } from "../../platform/http/answer-headers.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import { describeEndpoint } from "../../platform/http/endpoint-table.ts";
import { getCaller } from "../../platform/http/request-context.ts";
import { createUnknownCursor, csvAnswer, csvType, presentPage, queryErrors } from "./list-schema.ts";
import { listOpenHolds } from "./open-hold-store.ts";
import { parseRange } from "./parse-period.ts";
import { openStatementCsv, readStatement } from "./read-statement.ts";
import {
  holdListSchema,
  holdQuerySchema,
  presentEntry,
  presentHold,
  statementQuerySchema,
  statementSchema,
} from "./statement-schema.ts";
import { readTimeZone } from "./sum-usage.ts";

const tags = ["Balance"];

export function addStatementRoutes(http: HttpServer, { database }: { database: Database }): void {
  addStatement(http, database);
  addListHolds(http, database);
}

function addStatement(http: HttpServer, database: Database): void {
  const { config, schema, errors } = describeEndpoint("listLedgerEntries", queryErrors);
  const description = `Lists every movement of the account's money and quotas, newest first, with the balance after it.
\`format=csv\` returns the whole period, oldest first, up to 100000 lines.`;
  http.get(
    "/ledger",
    {
      config,
      schema: {
        ...schema,
        summary: "List ledger entries",
        description,
        tags,
        querystring: statementQuerySchema,
        ...describeAnswers({ 200: csvAnswer }),
        // CSV is streamed without serialization.
        response: { 200: Type.Unsafe<Static<typeof statementSchema> | Readable>(statementSchema), ...errors },
      },
    },
    async (request, reply) => {
      const { limit = 20, after = null, format } = request.query;
      const { accountId } = getCaller(request);
      const range = parseRange(request.query, await readTimeZone(database, accountId));
      if (format === "csv") {
        const lines = await openStatementCsv(database, { accountId, ...range });
        reply.type(csvType).header("content-disposition", 'attachment; filename="statement.csv"');
        return Readable.from(lines);
      }
      const statement = await readStatement(database, { accountId, ...range, after, limit: limit + 1 });
      if (statement === null) throw createUnknownCursor();
      const { entries, models } = statement;
      return presentPage(entries, limit, (entry) => presentEntry(entry, models));
    },
  );
}

function addListHolds(http: HttpServer, database: Database): void {
  const { config, schema, errors } = describeEndpoint("listHolds", queryErrors);
  http.get(
    "/holds",
    {
      config,
      schema: {
        ...schema,
        summary: "List holds",
        description: "Lists the holds of unfinished calls and tasks, newest first.",
        tags,
        querystring: holdQuerySchema,
        response: { 200: holdListSchema, ...errors },
      },
    },
    async (request) => {
      const { limit = 20, after = null } = request.query;
      const holds = await listOpenHolds(database, getCaller(request).accountId, { after, limit: limit + 1 });
      return presentPage(holds, limit, presentHold);
    },
  );
}

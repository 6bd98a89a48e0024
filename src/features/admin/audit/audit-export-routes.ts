import { Readable } from "node:stream";
import { Type } from "typebox";
import { presentCsvLine } from "../../../lib/csv.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { type AuditEntry, type AuditFilter, listAudit } from "../../audit/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { auditFilterFields, readAuditFilter } from "./audit-filter.ts";

const linesAtOnce = 500;

const querySchema = Type.Object(auditFilterFields, { additionalProperties: false });

const columns: readonly (readonly [name: string, get: (entry: AuditEntry) => string | null])[] = [
  ["id", ({ number }) => `aud_${number}`],
  ["created_at", ({ createdAt }) => createdAt.toISOString()],
  ["actor_kind", ({ actor }) => actor.kind],
  ["actor_id", ({ actor }) => actor.id],
  ["actor_name", ({ actor }) => actor.name],
  ["address", ({ address }) => address],
  ["action", ({ action }) => action],
  ["subject", ({ subject }) => subject],
  ["account_id", ({ accountId }) => accountId],
  ["reason", ({ reason }) => reason],
  ["before", ({ before }) => (before === null ? null : JSON.stringify(before))],
  ["after", ({ after }) => (after === null ? null : JSON.stringify(after))],
  ["request_id", ({ requestId }) => requestId],
  ["hash", ({ hash }) => hash],
];

export function addAuditExportRoutes(http: HttpServer, { database }: Pick<AdminDependencies, "database">): void {
  const { config, schema, errors } = describeAdminEndpoint("exportAuditEntries");
  http.get(
    "/audit/export",
    {
      config,
      schema: {
        ...schema,
        summary: "Export audit entries",
        description: "As CSV, newest first. Takes the filters of the list.",
        querystring: querySchema,
        // A stream, sent without serialization.
        response: {
          200: Type.Unsafe<Readable>(Type.String({ description: "The first line contains the column names." })),
          ...errors,
        },
      },
    },
    async ({ query }, reply) => {
      reply.type("text/csv; charset=utf-8").header("content-disposition", 'attachment; filename="audit.csv"');
      return Readable.from(writeLines(database, readAuditFilter(query)));
    },
  );
}

/** With back-pressure: a slow client keeps no entries in memory. */
async function* writeLines(database: Database, filter: AuditFilter): AsyncGenerator<string, void> {
  yield presentCsvLine(columns.map(([name]) => name));
  for (let before: bigint | null = null; ; ) {
    const entries: AuditEntry[] = await listAudit(database, filter, { before, limit: linesAtOnce });
    yield entries.map((entry) => presentCsvLine(columns.map(([, get]) => get(entry) ?? ""))).join("");
    const last = entries.at(-1);
    if (last === undefined || entries.length < linesAtOnce) return;
    before = last.number;
  }
}

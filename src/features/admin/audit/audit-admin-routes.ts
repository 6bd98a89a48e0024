import { type Static, Type } from "typebox";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { type AuditEntry, actorKinds, listAudit, verifyAudit } from "../../audit/index.ts";
import { createPageSchema, createUnknownCursor, listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { auditFilterFields, readAuditFilter } from "./audit-filter.ts";

const maybeText = Type.Union([Type.String(), Type.Null()]);
const facts = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]);

const entrySchema = Type.Object({
  object: Type.Literal("audit_entry"),
  id: Type.String({ examples: ["aud_42"], description: "Numbers have no gaps." }),
  created_at: Type.String({ format: "date-time" }),
  actor: Type.Object({ kind: Type.Enum([...actorKinds]), id: maybeText, name: Type.String() }),
  address: maybeText,
  action: Type.String({ examples: ["account.suspended"] }),
  subject: maybeText,
  account_id: maybeText,
  reason: maybeText,
  before: facts,
  after: facts,
  request_id: maybeText,
  hash: Type.String({ description: "Of this entry and the hash of the entry before, in hexadecimal." }),
});

const querySchema = Type.Object(
  { ...auditFilterFields, ...listFields("^aud_[1-9][0-9]{0,17}$") },
  { additionalProperties: false },
);

const verdictSchema = Type.Object({
  object: Type.Literal("audit_verification"),
  ok: Type.Boolean(),
  entries: Type.Integer(),
  fault: Type.Union([
    Type.Object({
      kind: Type.Enum(["changed", "cut-off"]),
      id: Type.String({ description: "The first wrong entry." }),
    }),
    Type.Null(),
  ]),
  head: Type.Union([Type.Object({ id: Type.String(), hash: Type.String() }), Type.Null()], {
    description: "The newest entry. Note it elsewhere: only that shows whether the newest entries were removed later.",
  }),
});

export function addAuditAdminRoutes(http: HttpServer, { database }: Pick<AdminDependencies, "database">): void {
  const list = describeAdminEndpoint("listAuditEntries");
  http.get(
    "/audit",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List audit entries",
        description: "What operators and account owners did, with the facts before and after.",
        querystring: querySchema,
        response: { 200: createPageSchema(entrySchema), ...list.errors },
      },
    },
    async ({ query: { limit = 20, after, ...asked } }) => {
      const before = after === undefined ? null : parseNumber(after);
      return presentPage(
        await listAudit(database, readAuditFilter(asked), { before, limit: limit + 1 }),
        limit,
        presentEntry,
      );
    },
  );
  const verify = describeAdminEndpoint("verifyAuditLog");
  http.get(
    "/audit/verification",
    {
      config: verify.config,
      schema: {
        ...verify.schema,
        summary: "Verify the audit log",
        description: "Recomputes the chain of hashes: a changed, removed or inserted entry breaks it.",
        response: { 200: verdictSchema, ...verify.errors },
      },
    },
    async () => {
      const { entries, fault, head } = await verifyAudit(database);
      return {
        object: "audit_verification" as const,
        ok: fault === null,
        entries,
        fault: fault === null ? null : { kind: fault.kind, id: presentId(fault.number) },
        head: head === null ? null : { id: presentId(head.number), hash: head.hash },
      };
    },
  );
}

function presentId(number: bigint): string {
  return `aud_${number}`;
}

function parseNumber(id: string): bigint {
  const number = /^aud_(\d+)$/.exec(id)?.[1];
  if (number === undefined) throw createUnknownCursor();
  return BigInt(number);
}

function presentEntry(entry: AuditEntry): Static<typeof entrySchema> {
  return {
    object: "audit_entry",
    id: presentId(entry.number),
    created_at: entry.createdAt.toISOString(),
    actor: entry.actor,
    address: entry.address,
    action: entry.action,
    subject: entry.subject,
    account_id: entry.accountId,
    reason: entry.reason,
    before: entry.before,
    after: entry.after,
    request_id: entry.requestId,
    hash: entry.hash,
  };
}

import { type Static, Type } from "typebox";
import { inTransaction } from "../../../platform/database/database.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import {
  addBlock,
  type Block,
  blockKinds,
  liftCap,
  listBlocks,
  listSignUps,
  removeBlock,
  type SignUpRow,
  sumSignUps,
} from "../../abuse/index.ts";
import { appendAudit } from "../../audit/index.ts";
import { normalizeMailbox } from "../../site/index.ts";
import { createPageSchema, listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing, nameActor } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { momentField, parseMoment } from "../edge/moment-field.ts";

const moment = Type.String({ format: "date-time" });
const maybeMoment = Type.Union([moment, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);
const text = (charactersMax: number, description: string) =>
  Type.String({ minLength: 1, maxLength: charactersMax, pattern: "^[^\\0]*$", description });
const kind = Type.Enum([...blockKinds], {
  description: "`network`: it can neither call nor sign in. The others cannot sign up.",
});

const signUpSchema = Type.Object({
  object: Type.Literal("sign_up"),
  id: Type.String(),
  created_at: moment,
  network: Type.String(),
  mail_domain: Type.String(),
  account_id: maybeText,
  refusal: maybeText,
});

const sumsSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(
    Type.Object({ subject: Type.String(), opened: Type.Integer(), refused: Type.Integer(), last_at: moment }),
  ),
});

const blockSchema = Type.Object({
  object: Type.Literal("block"),
  id: Type.String({ description: "The subject." }),
  kind,
  subject: Type.String(),
  reason: Type.String(),
  created_at: moment,
  created_by: Type.String(),
  ends_at: maybeMoment,
});

const subject = text(254, "A network, a mail domain or an e-mail address.");
const reason = text(500, "For operators and the audit log. Customers don't see it.");
const blockListQuery = Type.Object(
  {
    kind,
    beginning: Type.Optional(text(254, "Only subjects that begin with it.")),
    ...listFields("^[^\\0]{1,254}$"),
  },
  { additionalProperties: false },
);

const usualLimit = 20;
const sumsMax = 200;
const dayMs = 24 * 60 * 60_000;

type AbuseDependencies = Pick<AdminDependencies, "database" | "clock">;

export function addAbuseAdminRoutes(http: HttpServer, dependencies: AbuseDependencies): void {
  addSignUps(http, dependencies);
  addBlocks(http, dependencies);
}

function addSignUps(http: HttpServer, { database, clock }: AbuseDependencies): void {
  const list = describeAdminEndpoint("listSignUps");
  http.get(
    "/sign-ups",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List sign-ups",
        querystring: Type.Object(
          {
            network: Type.Optional(text(100, "Only of this network.")),
            mail_domain: Type.Optional(text(254, "Only with this mail domain.")),
            ...listFields("^sup_[0-9a-z]{1,64}$"),
          },
          { additionalProperties: false },
        ),
        response: { 200: createPageSchema(signUpSchema), ...list.errors },
      },
    },
    async ({ query: { network = null, mail_domain: mailDomain = null, limit = usualLimit, after = null } }) => {
      const found = await listSignUps(database, { network, mailDomain, after, limit: limit + 1 });
      return presentPage(found, limit, presentSignUp);
    },
  );
  const sums = describeAdminEndpoint("sumSignUps");
  http.get(
    "/sign-ups/summary",
    {
      config: sums.config,
      schema: {
        ...sums.schema,
        summary: "Count sign-ups by network or mail domain",
        querystring: Type.Object(
          {
            by: Type.Enum(["network", "domain"]),
            days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 7 })),
          },
          { additionalProperties: false },
        ),
        response: { 200: sumsSchema, ...sums.errors },
      },
    },
    async ({ query: { by, days = 7 } }) => {
      const since = new Date(clock.now().getTime() - days * dayMs);
      const found = await sumSignUps(database, by, { since, limit: sumsMax });
      return {
        object: "list" as const,
        data: found.map(({ lastAt, ...sum }) => ({ ...sum, last_at: lastAt.toISOString() })),
      };
    },
  );
  const lift = describeAdminEndpoint("liftSpendCap");
  http.post(
    "/accounts/:account_id/lift-spend-cap",
    {
      config: lift.config,
      schema: {
        ...lift.schema,
        summary: "Lift the daily spend cap of a new account",
        params: pathParams({ account_id: "account" }),
        body: Type.Object({ reason }, { additionalProperties: false }),
        response: { 204: Type.Null(), ...lift.errors },
      },
    },
    async (request, reply) => {
      const { account_id: accountId } = request.params;
      const acting = getActing(request);
      await inTransaction(database, async (tx) => {
        await liftCap({ database: tx, clock }, accountId);
        await appendAudit(tx, {
          ...{ ...acting, action: "account.spend_cap_lifted", subject: accountId, accountId },
          ...{ reason: request.body.reason, before: null, after: null },
        });
      });
      return reply.code(204).send(null);
    },
  );
}

function addBlocks(http: HttpServer, { database, clock }: AbuseDependencies): void {
  const list = describeAdminEndpoint("listBlocks");
  http.get(
    "/blocks",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List blocks of a kind, by subject",
        querystring: blockListQuery,
        response: { 200: createPageSchema(blockSchema), ...list.errors },
      },
    },
    async ({ query: { kind: asked, beginning = "", limit = usualLimit, after = "" } }) => {
      const found = await listBlocks(database, { kind: asked, beginning, after, now: clock.now(), limit: limit + 1 });
      return presentPage(found, limit, presentBlock);
    },
  );
  const create = describeAdminEndpoint("createBlock");
  http.post(
    "/blocks",
    {
      config: create.config,
      schema: {
        ...create.schema,
        summary: "Block a network, a mail domain or a mailbox",
        description: "In force on every gateway within a second. Replaces the reason and the end of a known block.",
        body: Type.Object(
          { kind, subject, reason, ends_at: momentField("Without it, until it is removed.") },
          { additionalProperties: false },
        ),
        response: { 201: blockSchema, ...create.errors },
      },
    },
    async (request, reply) => {
      const { ends_at: end, ...body } = request.body;
      const endsAt = parseMoment(end, "ends_at");
      const acting = getActing(request);
      const block = await inTransaction(database, async (tx) => {
        const made = await addBlock(
          { database: tx, clock, normalizeMailbox },
          { ...body, endsAt, actor: nameActor(acting.actor) },
        );
        await appendAudit(tx, {
          ...{ ...acting, action: "block.created", subject: made.subject, accountId: null, reason: made.reason },
          before: null,
          after: { kind: made.kind, ends_at: made.endsAt?.toISOString() ?? null },
        });
        return made;
      });
      return reply.code(201).send(presentBlock(block));
    },
  );
  const remove = describeAdminEndpoint("removeBlock");
  http.post(
    "/blocks/remove",
    {
      config: remove.config,
      schema: {
        ...remove.schema,
        summary: "Remove a block",
        body: Type.Object({ kind, subject }, { additionalProperties: false }),
        response: { 200: blockSchema, ...remove.errors },
      },
    },
    async (request) => {
      const acting = getActing(request);
      return await inTransaction(database, async (tx) => {
        const { kind: asked, subject: word } = request.body;
        const removed = await removeBlock({ database: tx, normalizeMailbox }, asked, word);
        await appendAudit(tx, {
          ...{ ...acting, action: "block.removed", subject: removed.subject, accountId: null, reason: null },
          before: { kind: removed.kind, reason: removed.reason, ends_at: removed.endsAt?.toISOString() ?? null },
          after: null,
        });
        return presentBlock(removed);
      });
    },
  );
}

function presentSignUp(row: SignUpRow): Static<typeof signUpSchema> {
  return {
    ...{ object: "sign_up", id: row.id, created_at: row.createdAt.toISOString(), network: row.network },
    ...{ mail_domain: row.mailDomain, account_id: row.accountId, refusal: row.refusal },
  };
}

function presentBlock(block: Block): Static<typeof blockSchema> {
  return {
    ...{ object: "block", id: block.subject, kind: block.kind, subject: block.subject, reason: block.reason },
    ...{ created_at: block.createdAt.toISOString(), created_by: block.createdBy },
    ends_at: block.endsAt?.toISOString() ?? null,
  };
}

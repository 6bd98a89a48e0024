import { Type } from "typebox";
import { parseMoney } from "../../../lib/money.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import { listBatches, listCodePage } from "../../ledger/index.ts";
import { listFields, presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { getActing } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { momentField, parseMoment } from "../edge/moment-field.ts";
import { reasonSchema } from "../edge/reason.ts";
import { createBatchAsOperator, revokeBatchAsOperator, revokeCodeAsOperator } from "./change-money-as-operator.ts";
import {
  batchListSchema,
  codeListSchema,
  codeQuerySchema,
  codeSchema,
  newBatchSchema,
  presentBatch,
  presentCode,
} from "./money-admin-schema.ts";

const usualLimit = 20;

const createSchema = Type.Object(
  {
    kind: Type.Optional(Type.Enum(["gift", "cash"], { default: "gift", description: "A gift is spent first." })),
    amount: Type.String({ maxLength: 40, examples: ["10.00"], description: "Of each code." }),
    count: Type.Integer({ minimum: 1, maximum: 1000 }),
    gift_days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3650, description: "Only of gifts. Default: no end." }),
    ),
    expires_at: momentField("The last moment to redeem them. Default: never."),
    note: Type.Optional(Type.String({ maxLength: 200, pattern: "^[^\\0]*$" })),
    reason: reasonSchema.properties.reason,
  },
  { additionalProperties: false },
);

export function addCodeAdminRoutes(http: HttpServer, dependencies: AdminDependencies): void {
  addBatches(http, dependencies);
  addCodes(http, dependencies);
}

function addBatches(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock } = dependencies;
  const batches = describeAdminEndpoint("listCodeBatches");
  http.get(
    "/code-batches",
    {
      config: batches.config,
      schema: {
        ...batches.schema,
        summary: "List batches of redeem codes",
        querystring: Type.Object(listFields("^batch_[0-9a-z]{1,64}$"), { additionalProperties: false }),
        response: { 200: batchListSchema, ...batches.errors },
      },
    },
    async ({ query: { limit = usualLimit, after = null } }) =>
      presentPage(await listBatches(database, { after, limit: limit + 1 }), limit, presentBatch),
  );
  const create = describeAdminEndpoint("createCodes");
  http.post(
    "/code-batches",
    {
      config: create.config,
      schema: {
        ...create.schema,
        summary: "Create a batch of redeem codes",
        description: "The response has the codes' texts. They are stored nowhere.",
        body: createSchema,
        response: { 201: newBatchSchema, ...create.errors },
      },
    },
    async (request, reply) => {
      const { kind = "gift", amount: text, count, gift_days: giftDays = null, note = "", reason } = request.body;
      const amount = parseMoney(text);
      if (amount === null) {
        throw new AppError("invalid_parameter", "The amount must be a decimal above zero, such as 10.00.", {
          param: "amount",
        });
      }
      const expiresAt = parseMoment(request.body.expires_at, "expires_at");
      if (expiresAt !== null && expiresAt <= clock.now()) {
        throw new AppError("invalid_parameter", "Codes must expire in the future.", { param: "expires_at" });
      }
      if (kind === "cash" && giftDays !== null) {
        throw new AppError("invalid_parameter", "Cash does not expire. Only gifts have days.", { param: "gift_days" });
      }
      const asked = { ...{ kind, amount, count, giftDays, note, expiresAt, reason }, acting: getActing(request) };
      const { batch, texts } = await createBatchAsOperator(dependencies, asked);
      return reply.code(201).send({ ...presentBatch(batch), texts });
    },
  );
  const revoke = describeAdminEndpoint("revokeCodeBatch");
  http.post(
    "/code-batches/:batch_id/revoke",
    {
      config: revoke.config,
      schema: {
        ...revoke.schema,
        summary: "Revoke the unused codes of a batch",
        params: pathParams({ batch_id: "codeBatch" }),
        body: reasonSchema,
        response: {
          200: Type.Object({ object: Type.Literal("revocation"), revoked: Type.Integer() }),
          ...revoke.errors,
        },
      },
    },
    async (request) => {
      const asked = { id: request.params.batch_id, acting: getActing(request), reason: request.body.reason };
      return { object: "revocation" as const, revoked: await revokeBatchAsOperator(dependencies, asked) };
    },
  );
}

function addCodes(http: HttpServer, dependencies: AdminDependencies): void {
  const { database, clock } = dependencies;
  const codes = describeAdminEndpoint("listCodes");
  http.get(
    "/codes",
    {
      config: codes.config,
      schema: {
        ...codes.schema,
        summary: "List redeem codes",
        querystring: codeQuerySchema,
        response: { 200: codeListSchema, ...codes.errors },
      },
    },
    async ({ query: { batch_id: batchId = null, limit = usualLimit, after = null } }) => {
      const now = clock.now();
      const found = await listCodePage(database, { batchId, after, limit: limit + 1 });
      return presentPage(found, limit, (code) => presentCode(code, now));
    },
  );
  const revokeOne = describeAdminEndpoint("revokeCode", ["already_completed"]);
  http.post(
    "/codes/:code_id/revoke",
    {
      config: revokeOne.config,
      schema: {
        ...revokeOne.schema,
        summary: "Revoke an unused redeem code",
        params: pathParams({ code_id: "code" }),
        body: reasonSchema,
        response: { 200: codeSchema, ...revokeOne.errors },
      },
    },
    async (request) => {
      const asked = { id: request.params.code_id, acting: getActing(request), reason: request.body.reason };
      return presentCode(await revokeCodeAsOperator(dependencies, asked), clock.now());
    },
  );
}

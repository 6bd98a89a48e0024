import { type Static, Type } from "typebox";
import { budgetPeriods } from "../../../lib/budget.ts";
import type { LimitSet } from "../../../lib/limit-set.ts";
import { parseMoney } from "../../../lib/money.ts";
import { parseTimestamp } from "../../../lib/timestamp.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { endpointScopes } from "../../../platform/http/endpoint-table.ts";
import { type KeyRestrictions, keyKinds, type OwnKeyChange } from "../../accounts/index.ts";

const moment = Type.String({ format: "date-time" });
const limitMax = 1_000_000_000;
const listItemsMax = 1000;
const overlapMinutesMax = 24 * 60;

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

const limitNames = {
  requests_per_minute: "requestsPerMinute",
  tokens_per_minute: "tokensPerMinute",
  concurrent_requests: "concurrentRequests",
  tasks_in_flight: "tasksInFlight",
} as const satisfies Record<string, keyof LimitSet>;

const list = (description: string) => orNull(Type.Array(Type.String()), description);
const limit = orNull(Type.Integer(), "`null` if only the account's limit applies.");

export const keySchema = Type.Object({
  object: Type.Literal("api_key"),
  id: Type.String({ examples: ["key_01kh2n8v7m3q5x9d4c6b8a0e2f"] }),
  name: Type.String(),
  kind: Type.Enum([...keyKinds], {
    description:
      "`secret`: created by a user. `client`: issued to a connected program. `console`: used by the console itself.",
  }),
  preview: orNull(
    Type.String({ examples: ["sk-slc-…abcd"] }),
    "`null` for the console's own key, which is never shown.",
  ),
  created: Type.Integer({ description: "Unix time in seconds." }),
  last_used: orNull(Type.Integer(), "Unix time in seconds, to the minute; `null` before the first use."),
  expires_at: orNull(moment),
  revoked_at: orNull(moment),
  models: list("`null` for all models of the account."),
  endpoints: list("`null` for all."),
  addresses: list("`null` for any address."),
  budget: orNull(
    Type.Object({
      amount: Type.String({ examples: ["25.00"] }),
      period: Type.Enum([...budgetPeriods]),
      spent: Type.String({ examples: ["3.20"], description: "In the current period, since the budget was set." }),
      resets_at: orNull(moment, "When the next period begins; `null` for `total`."),
    }),
  ),
  limits: Type.Object({
    requests_per_minute: limit,
    tokens_per_minute: limit,
    concurrent_requests: limit,
    tasks_in_flight: limit,
  }),
  content_log: Type.Boolean({ description: "Whether request and response bodies are logged." }),
});

export const newKeySchema = Type.Object({
  ...keySchema.properties,
  key: Type.String({ description: "The key. Only this response contains it." }),
});

export const keyListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(keySchema),
  has_more: Type.Boolean(),
  next_cursor: orNull(Type.String(), "Send it as `after` to get the next page."),
});

export const keyListQuerySchema = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
    after: Type.Optional(Type.String({ pattern: "^key_[0-9a-z]{1,64}$", description: "A `next_cursor`." })),
    status: Type.Optional(
      Type.Enum(["live", "ended"], { description: "`live`: active keys. `ended`: expired and revoked keys." }),
    ),
  },
  { additionalProperties: false },
);

const items = (characters: number, description: string) =>
  Type.Optional(orNull(Type.Array(Type.String({ maxLength: characters }), { maxItems: listItemsMax }), description));
const newLimit = Type.Optional(orNull(Type.Integer({ minimum: 1, maximum: limitMax })));

const restrictionFields = {
  expires_at: Type.Optional(orNull(Type.String({ maxLength: 40, examples: ["2027-01-01T00:00:00Z"] }))),
  models: items(200, "Model ids; `null` for all models of the account."),
  endpoints: items(40, `Any of ${endpointScopes.join(", ")}; \`null\` for all.`),
  addresses: items(60, "Addresses or networks such as 10.0.0.0/8; `null` for any address."),
  budget: Type.Optional(
    orNull(
      Type.Object(
        { amount: Type.String({ maxLength: 40, examples: ["25.00"] }), period: Type.Enum([...budgetPeriods]) },
        { additionalProperties: false },
      ),
    ),
  ),
  limits: Type.Optional(
    Type.Object(
      {
        requests_per_minute: newLimit,
        tokens_per_minute: newLimit,
        concurrent_requests: newLimit,
        tasks_in_flight: newLimit,
      },
      { additionalProperties: false, description: "Absent limits keep their value; `null` removes a limit." },
    ),
  ),
};

const contentLogField = Type.Optional(
  Type.Boolean({
    description: `Whether request and response bodies are logged, encrypted and with secrets redacted, for
\`content_log_days\` days. Off by default. Turning it on requires reauthentication.`,
  }),
);

const nameField = Type.String({ description: "1 to 100 characters.", maxLength: 400 });

export const keyRequestSchema = Type.Object(
  { name: nameField, ...restrictionFields, content_log: contentLogField },
  { additionalProperties: false },
);

export const keyChangeSchema = Type.Object(
  { name: Type.Optional(nameField), ...restrictionFields, content_log: contentLogField },
  { additionalProperties: false, minProperties: 1 },
);

export const rotationSchema = Type.Object(
  {
    overlap_minutes: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: overlapMinutesMax,
        description: "How long the old key stays valid; 0 by default.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Maps the body to a key change; absent fields stay absent. */
export function parseKeyChange(body: Static<typeof keyChangeSchema>): OwnKeyChange {
  const { name, expires_at, models, endpoints, addresses, budget, limits, content_log } = body;
  return {
    ...(name === undefined ? {} : { name }),
    ...(content_log === undefined ? {} : { logsContent: content_log }),
    ...(expires_at === undefined ? {} : { expiresAt: expires_at === null ? null : parseMoment(expires_at) }),
    ...(models === undefined ? {} : { modelIds: models }),
    ...(endpoints === undefined ? {} : { endpoints }),
    ...(addresses === undefined ? {} : { addresses }),
    ...(budget === undefined ? {} : { budget: budget === null ? null : parseBudget(budget) }),
    ...(limits === undefined ? {} : { limits: renameLimits(limits) }),
  };
}

/** For a new key: absent or `null` means unrestricted. */
export function parseKeyRequest(
  body: Static<typeof keyRequestSchema>,
): { name: string; logsContent?: boolean } & Partial<KeyRestrictions> {
  const { limits = {}, ...rest } = parseKeyChange(body);
  const given = Object.entries(limits).filter(([, value]) => value !== null);
  return { ...rest, name: body.name, limits: Object.fromEntries(given) };
}

function renameLimits(limits: { [L in keyof typeof limitNames]?: number | null }): NonNullable<OwnKeyChange["limits"]> {
  const entries = Object.entries(limitNames).map(([wire, own]) => [own, limits[wire as keyof typeof limitNames]]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** All limits by their API name, `null` if unset. */
export function presentLimits(limits: Partial<LimitSet>) {
  return {
    requests_per_minute: limits.requestsPerMinute ?? null,
    tokens_per_minute: limits.tokensPerMinute ?? null,
    concurrent_requests: limits.concurrentRequests ?? null,
    tasks_in_flight: limits.tasksInFlight ?? null,
  };
}

function parseMoment(text: string): Date {
  const parsed = parseTimestamp(text);
  if (parsed !== null) return parsed;
  const message = "`expires_at` must be a time such as 2027-01-01T00:00:00Z.";
  throw new AppError("invalid_parameter", message, { param: "expires_at" });
}

function parseBudget({ amount, period }: { amount: string; period: (typeof budgetPeriods)[number] }) {
  const parsed = parseMoney(amount);
  if (parsed !== null) return { amount: parsed, period };
  const message =
    "`budget.amount` must be an amount such as 25 or 12.50, with at most 9 digits on each side of the point.";
  throw new AppError("invalid_parameter", message, { param: "budget.amount" });
}

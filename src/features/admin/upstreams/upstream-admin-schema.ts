import { type Static, Type } from "typebox";
import { nano, presentMoney } from "../../../lib/money.ts";
import type { UpstreamFinding } from "../../../providers/examine-upstream.ts";
import type { UpstreamTarget } from "../../../providers/upstream-health.ts";
import type { Catalog, CatalogFile, SeenLimit, StoredBalance, Upstream } from "../../catalog/index.ts";
import type { UpstreamTraffic } from "../../requests/index.ts";
import { createPageSchema, createUnknownCursor } from "../../usage/index.ts";
import { reasonField } from "../edge/reason.ts";
import { type EventPlace, eventKinds, type UpstreamEvent } from "./upstream-event-store.ts";

const time = Type.String({ format: "date-time" });
const maybeTime = Type.Union([time, Type.Null()]);
const maybeText = Type.Union([Type.String(), Type.Null()]);
const maybeCount = Type.Union([Type.Integer(), Type.Null()]);
const closed = { additionalProperties: false };
export const words = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[^\\0]*$", description });

const switchSchema = Type.Object({
  mode: Type.Enum(["disabled", "draining"]),
  subject: Type.String(),
  reason: Type.String(),
  by: Type.String(),
  since: time,
  ends_at: maybeTime,
});

const circuitSchema = Type.Object({
  node: Type.String(),
  state: Type.String({ description: "`open`, `half-open` or `degraded`." }),
  failures: Type.Integer(),
  last_failure: Type.String(),
  open_until: time,
  reported_at: time,
});

const limitSchema = Type.Object({
  name: Type.String({ examples: ["requests", "input-tokens"] }),
  limit: maybeCount,
  remaining: maybeCount,
  resets_at: maybeTime,
  seen_at: time,
});

const balanceSchema = Type.Object({
  provider: Type.String(),
  key_number: Type.Integer(),
  balance: Type.Union([Type.String(), Type.Null()], { description: "The last that the vendor stated." }),
  currency: maybeText,
  read_at: maybeTime,
  low: Type.Union([Type.String(), Type.Null()], { description: "The provider's `balance_low`." }),
  asked_at: time,
  failure: Type.Union([Type.String(), Type.Null()], { description: "Why the last answer had no balance." }),
});

const upstreamSchema = Type.Object({
  object: Type.Literal("upstream"),
  id: Type.String({ description: "Provider, upstream model and number of the key." }),
  provider: Type.String(),
  kind: Type.String(),
  upstream_model: Type.String(),
  key: Type.Union([Type.String(), Type.Null()], { description: "The name of its secret." }),
  key_number: Type.Integer(),
  models: Type.Array(Type.Object({ id: Type.String(), priority: Type.Integer(), weight: Type.Integer() })),
  switch: Type.Union([switchSchema, Type.Null()]),
  circuits: Type.Array(circuitSchema, {
    description: "One per process that has trouble with it; empty if it is healthy.",
  }),
  tasks_max: maybeCount,
  tasks_per_minute: maybeCount,
  failed_attempts: Type.Integer({ description: "Of this key, after which the call went elsewhere or ended." }),
  last_failure: maybeText,
  limits: Type.Array(limitSchema, { description: "As the vendor stated them last, within a day." }),
});

const trafficSchema = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  calls: Type.Integer(),
  failed: Type.Integer(),
  latency_ms: Type.Union([Type.Integer(), Type.Null()], { description: "The median of calls that were answered." }),
  first_token_ms: Type.Union([Type.Integer(), Type.Null()], { description: "The median of streamed calls." }),
});

export const upstreamListSchema = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(upstreamSchema),
  balances: Type.Array(balanceSchema, { description: "Of vendors that state one; asked every ten minutes." }),
  traffic: Type.Array(trafficSchema, { description: "From the request log of all accounts." }),
  traffic_since: Type.String({ format: "date-time", description: "All calls from here on are counted." }),
});

export const switchBodySchema = Type.Object(
  {
    subject: words(254, "A provider's id, `provider/upstream model`, or the name of a key."),
    mode: Type.Enum(["disabled", "draining", "enabled"], {
      description: "`draining`: tasks that were accepted before may still start there.",
    }),
    ends_at: Type.Optional(Type.String({ maxLength: 40, description: "When it ends by itself." })),
    reason: reasonField,
  },
  closed,
);

export const switchedSchema = Type.Object({
  object: Type.Literal("upstream_switch"),
  subject: Type.String(),
  mode: Type.String(),
  models_without_route: Type.Array(Type.String()),
});

export const testBodySchema = Type.Object(
  {
    provider: words(128, "A provider's id."),
    model: Type.Optional(words(254, "Also calls this model; by default the cheapest check that proves the key.")),
  },
  closed,
);

const checkSchema = Type.Object({
  check: Type.String(),
  ok: Type.Boolean(),
  message: Type.String(),
  remedy: maybeText,
});
export const checksSchema = Type.Array(checkSchema);

export const testedSchema = Type.Object({
  object: Type.Literal("upstream_test"),
  provider: Type.String(),
  ok: Type.Boolean(),
  checks: checksSchema,
});

const eventSchema = Type.Object({
  object: Type.Literal("upstream_event"),
  id: Type.String(),
  kind: Type.Enum([...eventKinds]),
  at: time,
  subject: Type.String(),
  by: maybeText,
  detail: maybeText,
});

export const eventListSchema = createPageSchema(eventSchema);

const vendorSchema = Type.Object({
  id: Type.String(),
  currency: Type.String(),
  secrets: Type.Array(Type.String(), { description: "The names of the keys to store." }),
  base_url: maybeText,
  models: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), type: Type.String(), price: maybeText })),
});

export const vendorListSchema = Type.Object({ object: Type.Literal("list"), data: Type.Array(vendorSchema) });

export function presentUpstream(
  upstream: Upstream,
  { catalog, traffic, limits }: { catalog: Catalog | null; traffic: UpstreamTraffic; limits: readonly SeenLimit[] },
): Static<typeof upstreamSchema> {
  const { providerId, upstreamModel, keyNumber, off, reports, taskLimits } = upstream;
  const isHere = (one: UpstreamTarget): boolean =>
    one.providerId === providerId && one.upstreamModel === upstreamModel && one.keyNumber === keyNumber;
  const key = traffic.keys.find(isHere);
  return {
    object: "upstream",
    id: JSON.stringify([providerId, upstreamModel, keyNumber]),
    provider: providerId,
    kind: upstream.kind,
    upstream_model: upstreamModel,
    key: upstream.apiKeyReference?.replace(/^\$\{(.+)\}$/, "$1") ?? null,
    key_number: keyNumber,
    models: (catalog?.models ?? []).flatMap(({ id, routes }) =>
      routes
        .filter((route) => route.provider === providerId && route.upstream_model === upstreamModel)
        .map(({ priority, weight }) => ({ id, priority, weight })),
    ),
    switch:
      off === null
        ? null
        : {
            ...{ mode: off.mode, subject: off.subject, reason: off.reason, by: off.createdBy },
            ...{ since: off.createdAt.toISOString(), ends_at: off.endsAt?.toISOString() ?? null },
          },
    circuits: reports.map((report) => ({
      ...{ node: report.nodeId, state: report.state, failures: report.failures, last_failure: report.lastFailure },
      ...{ open_until: report.openUntil.toISOString(), reported_at: report.reportedAt.toISOString() },
    })),
    tasks_max: taskLimits.tasks_max ?? null,
    tasks_per_minute: taskLimits.tasks_per_minute ?? null,
    failed_attempts: key?.failed ?? 0,
    last_failure: key?.last ?? null,
    limits: limits.filter(isHere).map(({ name, most, remaining, resetsAt, seenAt }) => ({
      ...{ name, limit: most, remaining, resets_at: resetsAt?.toISOString() ?? null, seen_at: seenAt.toISOString() },
    })),
  };
}

export function presentBalance(
  { providerId, keyNumber, balance, askedAt, failure }: StoredBalance,
  catalog: Catalog | null,
): Static<typeof balanceSchema> {
  return {
    ...{ provider: providerId, key_number: keyNumber, asked_at: askedAt.toISOString(), failure },
    balance: balance === null ? null : presentMoney(nano(balance.amountNano)),
    ...{ currency: balance?.currency ?? null, read_at: balance?.readAt.toISOString() ?? null },
    low: catalog?.providers.find(({ id }) => id === providerId)?.balance_low ?? null,
  };
}

export function presentTraffic({ figures }: UpstreamTraffic): Static<typeof trafficSchema>[] {
  return figures.map(({ providerId, model, calls, failed, latencyMs, firstTokenMs }) => ({
    ...{ provider: providerId, model, calls, failed, latency_ms: latencyMs, first_token_ms: firstTokenMs },
  }));
}

export function presentFindings(findings: readonly UpstreamFinding[]): Static<typeof checksSchema> {
  return findings.map(({ check, isOk, message, remedy = null }) => ({ check, ok: isOk, message, remedy }));
}

export function presentEvent({ id, kind, at, subject, by, detail }: UpstreamEvent): Static<typeof eventSchema> {
  return {
    ...{ object: "upstream_event" as const, id: `${at.getTime()}.${id}`, kind, at: at.toISOString(), subject, by },
    detail: detail === "" ? null : detail,
  };
}

export const eventIdPattern = "^[0-9]{1,15}\\.[a-z_]{1,40}/[A-Za-z0-9_.-]{1,200}$";

/** The place of an event in the list, from its id. */
export function parseEventPlace(id: string): EventPlace {
  const dot = id.indexOf(".");
  const at = new Date(Number(id.slice(0, dot)));
  if (Number.isNaN(at.getTime())) throw createUnknownCursor();
  return { at, id: id.slice(dot + 1) };
}

export function presentVendor(
  id: string,
  { currency, providers, models, prices }: CatalogFile,
): Static<typeof vendorSchema> {
  const references = providers.flatMap(({ api_keys: keys = [] }) => keys);
  const names = references.flatMap((text) => /^\$\{(.+)\}$/.exec(text)?.[1] ?? []);
  return {
    ...{ id, currency, secrets: [...new Set(names)], base_url: providers[0]?.base_url ?? null },
    models: models.map((model) => {
      const line = prices.find((one) => one.model === model.id);
      const amount =
        line?.price ?? (line?.input_price === undefined ? null : `${line.input_price} in, ${line.output_price} out`);
      return {
        ...{ id: model.id, name: model.name, type: model.type },
        price: line === undefined || amount === null ? null : `${amount} per ${line.unit}`,
      };
    }),
  };
}

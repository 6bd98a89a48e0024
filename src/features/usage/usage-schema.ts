import { type Static, Type } from "typebox";
import { presentCsvLine } from "../../lib/csv.ts";
import { nano, presentMoney } from "../../lib/money.ts";
import { quotaKinds } from "../../lib/plan-terms.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { UsageSums } from "./count-items.ts";
import { type Usage, type UsageGroup, type UsageRow, usageGroups } from "./sum-usage.ts";

export const moneySchema = (description: string) =>
  Type.String({ pattern: "^-?\\d+\\.\\d{2,24}$", examples: ["12.50"], description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const time = (description: string) => Type.String({ format: "date-time", description });
const maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const periodFields = {
  from: Type.Optional(
    Type.String({
      maxLength: 40,
      examples: ["2026-11-01"],
      description: "A time with offset, or a day, which begins at midnight in the account's time zone.",
    }),
  ),
  to: Type.Optional(Type.String({ maxLength: 40, description: "The exclusive end, in the same form as `from`." })),
};

export const chargeFilterFields = {
  model: Type.Optional(Type.String({ maxLength: 128, pattern: "^[!-~]+$", description: "Only this model." })),
  key_id: Type.Optional(Type.String({ pattern: "^key_[0-9a-z]{1,64}$", description: "Only this API key." })),
};

export const formatField = Type.Optional(
  Type.Enum(["json", "csv"], { description: "`csv` returns the same numbers as `text/csv`." }),
);

export const usageQuerySchema = Type.Object(
  {
    ...periodFields,
    ...chargeFilterFields,
    group_by: Type.Optional(
      Type.String({
        maxLength: 64,
        default: "day",
        examples: ["day,model"],
        description: "`day` or `hour`, `model`, `key`; separate several with commas.",
      }),
    ),
    format: formatField,
  },
  { additionalProperties: false },
);

const sumFields = {
  calls: count("Calls and tasks charged to money or a quota."),
  input_tokens: count("All input tokens, including cached ones."),
  cached_input_tokens: count("Input tokens read from a cache."),
  output_tokens: count("Output tokens."),
  images: count("Images of models priced per image."),
  seconds: count("Seconds of models priced per second."),
  characters: count("Characters of models priced per character."),
  charge: moneySchema("The amount paid in money."),
  quota: Type.Object(
    { text: count("Tokens."), image: count("Images."), video: count("Seconds.") },
    { description: "Units paid by the plan's quotas." },
  ),
};

const usageRowSchema = Type.Object({
  from: Type.Optional(time("When the day or hour begins.")),
  to: Type.Optional(time("When it ends.")),
  model: Type.Optional(maybe("Present when grouped by model.")),
  key_id: Type.Optional(maybe("Present when grouped by key; `null` if unknown.")),
  ...sumFields,
});

export const usageSchema = Type.Object({
  object: Type.Literal("usage"),
  currency: Type.String({ description: "ISO 4217 code of all amounts." }),
  time_zone: Type.String({ description: "The account's time zone, in which days and hours begin." }),
  from: time("The start of the period."),
  to: time("The end of the period."),
  data: Type.Array(usageRowSchema, { description: "Oldest first. Empty rows are omitted." }),
  total: Type.Object(sumFields),
});

export function parseGroups(text: string): Set<UsageGroup> {
  return new Set(
    text.split(",").map((word) => {
      const group = usageGroups.find((known) => known === word.trim());
      if (group !== undefined) return group;
      throw new AppError(
        "invalid_parameter",
        `\`group_by\` must be a comma-separated list of ${usageGroups.join(", ")}.`,
        {
          param: "group_by",
        },
      );
    }),
  );
}

export function presentUsage(usage: Usage, currency: string): Static<typeof usageSchema> {
  return {
    object: "usage",
    currency,
    time_zone: usage.timeZone,
    from: usage.from.toISOString(),
    to: usage.to.toISOString(),
    data: usage.rows.map(presentRow),
    total: presentSums(usage.total),
  };
}

function presentRow({ bucket, model, keyId, ...sums }: UsageRow): Static<typeof usageRowSchema> {
  return {
    ...(bucket === undefined ? {} : { from: bucket.from.toISOString(), to: bucket.to.toISOString() }),
    ...(model === undefined ? {} : { model }),
    ...(keyId === undefined ? {} : { key_id: keyId }),
    ...presentSums(sums),
  };
}

function presentSums(sums: UsageSums) {
  return {
    calls: Number(sums.calls),
    input_tokens: Number(sums.inputTokens),
    cached_input_tokens: Number(sums.cachedInputTokens),
    output_tokens: Number(sums.outputTokens),
    images: Number(sums.images),
    seconds: Number(sums.seconds),
    characters: Number(sums.characters),
    charge: presentMoney(nano(sums.charge)),
    quota: { text: Number(sums.quotas.text), image: Number(sums.quotas.image), video: Number(sums.quotas.video) },
  };
}

/** The same rows as the JSON form. Columns that it is not grouped by are empty. */
export function presentUsageCsv(usage: Usage): string {
  const quotaNames = quotaKinds.map((kind) => `quota_${kind}`);
  const rows = usage.rows.map(presentRow).map(({ from, to, model, key_id, quota, ...sums }) => ({
    ...{ from, to, model, key_id, ...sums },
    ...Object.fromEntries(quotaKinds.map((kind) => [`quota_${kind}`, quota[kind]])),
  }));
  const { quota: _, ...named } = sumFields;
  const names = ["from", "to", "model", "key_id", ...Object.keys(named), ...quotaNames];
  const lines = rows.map((row: Record<string, unknown>) => names.map((name) => String(row[name] ?? "")));
  return [names, ...lines].map(presentCsvLine).join("");
}

import { type TSchema, Type } from "typebox";
import { AppError } from "../../platform/errors/app-error.ts";

export const csvType = "text/csv; charset=utf-8";
/** For endpoints with `format=csv`. */
export const csvAnswer = { types: ["application/json", "text/csv"], sometimes: ["content-disposition"] } as const;

export const queryErrors = ["invalid_parameter", "unknown_parameter"] as const;

const idCharacters = "[0-9a-z.]{1,80}";

export const listFields = (afterPattern: string) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  after: Type.Optional(Type.String({ pattern: afterPattern, description: "The `next_cursor` of the previous page." })),
});

export const chargeIdPattern = `^txn_${idCharacters}$`;
export const entryIdPattern = `^txn_${idCharacters}:\\d{1,4}$`;
export const holdIdPattern = `^hold_${idCharacters}$`;

export const causeSchema = Type.Object(
  { kind: Type.String({ examples: ["request", "task"] }), id: Type.String() },
  { description: "The cause: a request, a task, or the person or process that moved the money." },
);

export const unitSchema = Type.Enum(["money", "text", "image", "video"], {
  description: "The unit of the amounts: money, or the tokens, images or seconds of a quota.",
});

export function createPageSchema<T extends TSchema>(item: T) {
  return Type.Object({
    object: Type.Literal("list"),
    data: Type.Array(item),
    has_more: Type.Boolean(),
    next_cursor: Type.Union([Type.String(), Type.Null()], { description: "Send it as `after` to get the next page." }),
  });
}

/** `things` has one item more than `limit` if there is a next page. */
export function presentPage<T, P extends { id: string }>(
  things: readonly T[],
  limit: number,
  present: (thing: T) => P,
) {
  const data = things.slice(0, limit).map(present);
  const hasMore = things.length > limit;
  return { object: "list" as const, data, has_more: hasMore, next_cursor: hasMore ? (data.at(-1)?.id ?? null) : null };
}

export function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

export function createUnknownCursor(): AppError {
  return new AppError("invalid_parameter", "`after` must be the `next_cursor` of a page of this list.", {
    param: "after",
  });
}

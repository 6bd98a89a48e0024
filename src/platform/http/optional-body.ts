import { type Static, type TSchema, Type } from "typebox";

/** A body that may be absent, which reaches the validator as `null`. */
export function optionalBody<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true });
}

/** The body of a POST that says nothing. */
export const emptyBodySchema = optionalBody(
  Type.Object({}, { additionalProperties: false, description: "Nothing, or an empty object." }),
);

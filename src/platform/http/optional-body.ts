import { type Static, type TSchema, Type } from "typebox";

/** A body that may be absent; the validator sees `null`. */
export function optionalBody<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true });
}

/** The body of a POST without parameters. */
export const emptyBodySchema = optionalBody(
  Type.Object({}, { additionalProperties: false, description: "Nothing, or an empty object." }),
);

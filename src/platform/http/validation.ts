import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler } from "fastify";

// A body's values are taken as they are; a query string holds only text, so its values are converted.
const strict = new Ajv({
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  strict: true,
  discriminator: true,
  // So that a mistake in a field that tells several forms apart can name them.
  verbose: true,
});
const converting = new Ajv({ coerceTypes: "array", removeAdditional: false, useDefaults: true, strict: true });

type LazyValidator = { (value: unknown): boolean; errors?: ErrorObject[] | null };

/** Schemas are compiled when they are first needed: all of them together would take a third of the start. */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  // Headers are described for the reference; whoever needs one reads and checks it.
  if (httpPart === "headers") return () => true;
  const ajv = httpPart === "body" ? strict : converting;
  let compiled: ValidateFunction | null = null;
  const validate: LazyValidator = (value) => {
    // Ajv knows the schemas that it has compiled, so that further servers of a process share what it made.
    compiled ??= ajv.compile(schema);
    const isRight = compiled(value);
    validate.errors = compiled.errors ?? null;
    return isRight;
  };
  return validate;
};

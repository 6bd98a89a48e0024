import { Ajv } from "ajv";
import type { FastifySchemaCompiler } from "fastify";

/** A body's values are taken as they are; a query string holds only text, so its values are converted. */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
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
  return ({ schema, httpPart }) => {
    // Headers are described for the reference; whoever needs one reads and checks it.
    if (httpPart === "headers") return () => true;
    return (httpPart === "body" ? strict : converting).compile(schema);
  };
}

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler } from "fastify";

// Bodies are not coerced; query strings contain only text, so their values are.
const strict = new Ajv({
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  strict: true,
  discriminator: true,
  // Adds `parentSchema`, which the errors for an unknown discriminator and an unknown field need.
  verbose: true,
});
const converting = new Ajv({
  coerceTypes: "array",
  removeAdditional: false,
  useDefaults: true,
  strict: true,
  verbose: true,
});

type LazyValidator = { (value: unknown): boolean; errors?: ErrorObject[] | null };

/** Compiles schemas on first use: all of them would take a third of the startup time. */
export const compileValidator: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  // Header schemas are for the reference only; operations check headers.
  if (httpPart === "headers") return () => true;
  const ajv = httpPart === "body" ? strict : converting;
  let compiled: ValidateFunction | null = null;
  const validate: LazyValidator = (value) => {
    // Ajv caches by schema, so the servers of a process share validators.
    compiled ??= ajv.compile(schema);
    const isRight = compiled(value);
    validate.errors = compiled.errors ?? null;
    return isRight;
  };
  return validate;
};

/**
 * Like `compileValidator`, but repairs a rejected body in place and validates it again. Bodies that are valid at once
 * cost nothing more.
 */
export function compileRepairing(repair: (body: unknown) => void): FastifySchemaCompiler<object> {
  return (route) => {
    const validate = compileValidator(route) as LazyValidator;
    if (route.httpPart !== "body") return validate;
    const repairing: LazyValidator = (body) => {
      let isRight = validate(body);
      if (!isRight) {
        repair(body);
        isRight = validate(body);
      }
      repairing.errors = validate.errors ?? null;
      return isRight;
    };
    return repairing;
  };
}

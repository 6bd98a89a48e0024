import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { FastifySchemaCompiler } from "fastify";
import { listUnread, readAll } from "../../lib/unread-json.ts";

/**
 * Ajv's optimizer counts the names of a validator in objects, one property each. Their hidden classes use up the transitions
 * that V8 keeps from an empty object: then every object of every call that grows from one gets hidden classes of its own.
 */
const code = { optimize: false };

// Bodies are not coerced; query strings contain only text, so their values are.
const strict = new Ajv({
  code,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  strict: true,
  discriminator: true,
  // Adds `parentSchema`, which the errors for an unknown discriminator and an unknown field need.
  verbose: true,
});
const converting = new Ajv({
  code,
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
 * For a route whose bodies may be outlined: validates only the fields that were parsed, because the outline has checked the
 * others. If that fails, reads them, so that the error is that of the whole body.
 */
export function compileOutlined(compile: FastifySchemaCompiler<object>): FastifySchemaCompiler<object> {
  return (route) => {
    const validate = compile(route) as LazyValidator;
    if (route.httpPart !== "body") return validate;
    const validatorsByUnread = new Map<string, LazyValidator>();
    const validateOutlined: LazyValidator = (body) => {
      const unread = typeof body === "object" && body !== null ? listUnread(body) : [];
      if (unread.length > 0) {
        const key = unread.join();
        const validateRest =
          validatorsByUnread.get(key) ??
          (compileValidator({ ...route, schema: omitFields(route.schema, unread) }) as LazyValidator);
        validatorsByUnread.set(key, validateRest);
        if (validateRest(body)) return true;
        readAll(body as object);
      }
      const isRight = validate(body);
      validateOutlined.errors = validate.errors ?? null;
      return isRight;
    };
    return validateOutlined;
  };
}

function omitFields(schema: object, names: readonly string[]): object {
  const { properties = {}, required = [], ...rest } = schema as { properties?: object; required?: string[] };
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))),
    required: required.filter((name) => !names.includes(name)),
  };
}

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

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { addSchemaFormats } from "../schema-check.ts";
import { listRequiredHeaders, type OpenApiDocument, type Operation, type Schema } from "./openapi-document.ts";

export type SeenAnswer = { status: number; headers: Headers /** `null` where it was not read. */; body: string | null };

const ajv = new Ajv2020({ strict: false, logger: false, allErrors: false });
addSchemaFormats(ajv);
/** By the schema's text: most operations share the schemas of their errors. */
const validators = new Map<string, ValidateFunction>();
const texts = new WeakMap<object, string>();

/** How an answer violates the document, or `null`. */
export function findUntruth(document: OpenApiDocument, operation: Operation, answer: SeenAnswer): string | null {
  const { status, headers, body } = answer;
  if (status >= 500 && status !== 501 && status !== 503) return "a failure of the gateway itself";
  const described = operation.answers[String(status)];
  if (described === undefined) return `the status ${status} is not described`;
  const absent = listRequiredHeaders(described, document).filter((name) => !headers.has(name));
  if (absent.length > 0) return `headers are missing: ${absent.join(", ")}`;
  const types = Object.keys(described.content ?? {});
  const type = headers.get("content-type")?.split(";")[0]?.trim();
  if (type === undefined) return types.length === 0 || body === "" ? null : "the answer has no content type";
  const named = types.find((known) => matches(known, type));
  if (named === undefined) return `the content type ${type} is not described`;
  const schema = described.content?.[named]?.schema;
  if (type !== "application/json" || schema === undefined || body === null) return null;
  return findMismatch(schema, body);
}

function matches(known: string, type: string): boolean {
  return known === type || (known.endsWith("/*") && type.startsWith(known.slice(0, -1)));
}

function findMismatch(schema: Schema, body: string): string | null {
  const text = texts.getOrInsertComputed(schema, () => JSON.stringify(schema));
  const validate = validators.getOrInsertComputed(text, () => ajv.compile(close(schema) as object));
  return validate(JSON.parse(body)) ? null : `the body does not conform: ${ajv.errorsText(validate.errors)}`;
}

/** Undocumented fields are rejected like missing ones. */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close);
  if (typeof schema !== "object" || schema === null) return schema;
  const closed = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, close(value)]));
  const isOpen = "properties" in schema && !("additionalProperties" in schema) && !("patternProperties" in schema);
  return isOpen && (schema as Schema).type === "object" ? { ...closed, additionalProperties: false } : closed;
}

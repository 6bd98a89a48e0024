import { Ajv } from "ajv";
import type { FastifySchemaCompiler } from "fastify";
import type { ErrorCode } from "../errors/error-table.ts";

/** One finding of the validator: which rule, where, and the rule's own numbers or words. */
export type ValidationFinding = {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string | undefined;
};

export type ValidationProblem = { code: ErrorCode; param: string; message: string };

/** A body's values are taken as they are; a query string holds only text, so its values are converted. */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  const strict = new Ajv({ coerceTypes: false, removeAdditional: false, useDefaults: true, strict: true });
  const converting = new Ajv({ coerceTypes: "array", removeAdditional: false, useDefaults: true, strict: true });
  return ({ schema, httpPart }) => (httpPart === "body" ? strict : converting).compile(schema);
}

/** A sentence that names the field and what would be right. */
export function describeValidationProblem(finding: ValidationFinding, part: string): ValidationProblem {
  const place = presentPath(finding.instancePath);
  if (finding.keyword === "required") {
    const param = joinPath(place, String(finding.params.missingProperty));
    return { code: "missing_parameter", param, message: `\`${param}\` is required.` };
  }
  if (finding.keyword === "additionalProperties") {
    const param = joinPath(place, String(finding.params.additionalProperty));
    const kind = part === "querystring" ? "query parameter" : "field";
    return { code: "unknown_parameter", param, message: `\`${param}\` is not a ${kind} of this endpoint.` };
  }
  const subject = place === "" ? `The ${part === "querystring" ? "query" : part}` : `\`${place}\``;
  return { code: "invalid_parameter", param: place, message: `${subject} ${describeRule(finding)}.` };
}

function describeRule(finding: ValidationFinding): string {
  const { allowedValues, allowedValue, limit, type } = finding.params;
  switch (finding.keyword) {
    case "enum":
      return `must be one of: ${Array.isArray(allowedValues) ? allowedValues.join(", ") : ""}`;
    case "const":
      return `must be ${JSON.stringify(allowedValue)}`;
    case "type":
      return `must be of type ${String(type)}`;
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${String(limit)} characters`;
    case "maxLength":
      return `must have at most ${String(limit)} characters`;
    case "minItems":
      return `must have at least ${String(limit)} items`;
    case "maxItems":
      return `must have at most ${String(limit)} items`;
    default:
      return finding.message ?? "is not valid";
  }
}

/** `/messages/0/role` as people and OpenAI's clients write it: `messages[0].role`. */
function presentPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joinPath(path, part)), "");
}

function joinPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

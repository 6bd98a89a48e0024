import { invariant } from "../../lib/invariant.ts";
import { describeUnknownField } from "./describe-unknown-field.ts";
import type { ErrorCode } from "./error-table.ts";

export type ValidationFinding = {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string | undefined;
  /** The schema that contains the failed keyword, in Ajv's verbose mode. */
  parentSchema?: unknown;
};

export type ValidationProblem = { code: ErrorCode; param: string | null; message: string };

/** Returns a message with the field and the allowed values. */
export function describeValidationProblem(findings: readonly ValidationFinding[], part: string): ValidationProblem {
  const finding = chooseFinding(findings);
  const place = presentPath(finding.instancePath);
  if (finding.keyword === "required") {
    const param = joinPath(place, String(finding.params.missingProperty));
    return { code: "missing_parameter", param, message: `\`${param}\` is required.` };
  }
  if (finding.keyword === "additionalProperties") {
    const param = joinPath(place, String(finding.params.additionalProperty));
    const { properties = {} } = (finding.parentSchema ?? {}) as { properties?: object };
    const kind = part === "querystring" ? "query parameter" : "field";
    return { code: "unknown_parameter", param, message: describeUnknownField(param, Object.keys(properties), kind) };
  }
  if (finding.keyword === "discriminator") return describeUnknownForm(finding, place);
  const subject = place === "" ? `The ${part === "querystring" ? "query" : part}` : `\`${place}\``;
  const rules = findings.filter((other) => other.instancePath === finding.instancePath && !isChoice(other));
  return {
    code: "invalid_parameter",
    param: place === "" ? null : place,
    message: `${subject} ${describeRules(rules)}.`,
  };
}

/** The rules of a union's members in one sentence. Its types are named together; `null` only where another type is. */
function describeRules(rules: readonly ValidationFinding[]): string {
  const isOfType = ({ keyword }: ValidationFinding): boolean => keyword === "type";
  const types = new Set(rules.filter(isOfType).map(({ params }) => String(params.type)));
  const others = new Set(rules.filter((rule) => !isOfType(rule)).map(describeRule));
  if (others.size > 0) types.delete("null");
  const ofType = types.size === 0 ? [] : [`must be of type ${[...types].join(" or ")}`];
  return [...ofType, ...others].join(", or ");
}

/** The discriminator of a union is missing or unknown. */
function describeUnknownForm({ params, parentSchema }: ValidationFinding, place: string): ValidationProblem {
  const tag = String(params.tag);
  const param = joinPath(place, tag);
  const { oneOf = [] } = (parentSchema ?? {}) as { oneOf?: { properties?: Record<string, { const?: unknown }> }[] };
  const names = oneOf.map(({ properties }) => properties?.[tag]?.const).join(", ");
  return params.tagValue === undefined
    ? { code: "missing_parameter", param, message: `\`${param}\` is required: one of ${names}.` }
    : { code: "invalid_parameter", param, message: `\`${param}\` must be one of: ${names}.` };
}

/**
 * A value that matches no member of a union has findings for every member. Choose the deepest, which belongs to the
 * member the caller most likely meant; at equal depth, one that is not a type mismatch.
 */
function chooseFinding(findings: readonly ValidationFinding[]): ValidationFinding {
  const depth = ({ instancePath }: ValidationFinding): number => instancePath.split("/").length;
  const doubt = ({ keyword }: ValidationFinding): number => (keyword === "type" ? 1 : 0);
  const [chosen] = findings
    .filter((finding) => !isChoice(finding))
    .toSorted((a, b) => depth(b) - depth(a) || doubt(a) - doubt(b));
  invariant(chosen !== undefined, "the validator rejected a request without a finding");
  return chosen;
}

function isChoice({ keyword }: ValidationFinding): boolean {
  return keyword === "anyOf" || keyword === "oneOf";
}

export function describeRule(finding: ValidationFinding): string {
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
      return `must have at least ${String(limit)} ${limit === 1 ? "item" : "items"}`;
    case "maxItems":
      return `must have at most ${String(limit)} ${limit === 1 ? "item" : "items"}`;
    default:
      return finding.message ?? "is not valid";
  }
}

/** Converts `/messages/0/role` to OpenAI's form `messages[0].role`. */
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

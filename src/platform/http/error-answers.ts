import { type TSchema, Type } from "typebox";
import { getAnthropicType } from "../errors/error-body.ts";
import { type ErrorCode, getErrorEntry } from "../errors/error-table.ts";

/** Routes share schemas, and so the serializers compiled from them. */
const errorSchemas = new Map<string, TSchema>();
/** Hundreds of routes have the same few lists of errors. */
const answersByCodes = new Map<string, Readonly<Record<number, TSchema>>>();

/** Response schemas of a route's errors. */
export function errorAnswers(
  codes: readonly ErrorCode[],
  { isAnthropic = false }: { isAnthropic?: boolean } = {},
): Readonly<Record<number, TSchema>> {
  const name = `${isAnthropic} ${codes.join()}`;
  const known = answersByCodes.get(name);
  if (known !== undefined) return known;
  const made = listErrorSchemas(codes, isAnthropic);
  answersByCodes.set(name, made);
  return made;
}

function listErrorSchemas(codes: readonly ErrorCode[], isAnthropic: boolean): Record<number, TSchema> {
  const byStatus = Object.groupBy(codes, (code) => getErrorEntry(code).status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => {
      const names = [...new Set(group.map((code) => getErrorEntry(code).wireCode ?? code))];
      return [
        Number(status),
        getErrorSchema(
          names,
          group.map((code) => (isAnthropic ? getAnthropicType(code) : getErrorEntry(code).type)),
          isAnthropic,
        ),
      ];
    }),
  );
}

function getErrorSchema(codes: readonly string[], types: readonly string[], isAnthropic: boolean): TSchema {
  const name = JSON.stringify([codes, types, isAnthropic]);
  const known = errorSchemas.get(name);
  if (known !== undefined) return known;
  const made = createErrorSchema(codes, types, isAnthropic);
  errorSchemas.set(name, made);
  return made;
}

const details = Type.Optional(
  Type.Object(
    { error_code: Type.String({ examples: ["thread_unsupported_request"] }) },
    { description: "Anthropic's own code, for errors that its clients handle." },
  ),
);

function createErrorSchema(codes: readonly string[], types: readonly string[], isAnthropic: boolean): TSchema {
  return Type.Object(
    {
      ...(isAnthropic ? { type: Type.Literal("error") } : {}),
      error: Type.Object({
        message: Type.String(),
        type: Type.String({ examples: [...new Set(types)] }),
        param: Type.Union([Type.String(), Type.Null()]),
        code: Type.String({ examples: [...codes] }),
        ...(isAnthropic && codes.includes("unsupported_capability") ? { details } : {}),
      }),
      request_id: Type.String(),
    },
    { description: codes.map((code) => `\`${code}\``).join(", ") },
  );
}

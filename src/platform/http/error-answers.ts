import { type TSchema, Type } from "typebox";
import { type ErrorCode, getErrorEntry } from "../errors/error-table.ts";

/** The errors of a route as response schemas: what the reference shows and what the serializer follows. */
export function errorAnswers(codes: readonly ErrorCode[]): Record<number, TSchema> {
  const byStatus = Object.groupBy(codes, (code) => getErrorEntry(code).status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => {
      const names = [...new Set(group.map((code) => getErrorEntry(code).wireCode ?? code))];
      return [
        Number(status),
        createErrorSchema(
          names,
          group.map((code) => getErrorEntry(code).type),
        ),
      ];
    }),
  );
}

function createErrorSchema(codes: readonly string[], types: readonly string[]): TSchema {
  return Type.Object(
    {
      error: Type.Object({
        message: Type.String(),
        type: Type.String({ examples: [...new Set(types)] }),
        param: Type.Union([Type.String(), Type.Null()]),
        code: Type.String({ examples: [...codes] }),
      }),
      request_id: Type.String(),
    },
    { description: codes.map((code) => `\`${code}\``).join(", ") },
  );
}

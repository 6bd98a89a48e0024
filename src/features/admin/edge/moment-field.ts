import { Type } from "typebox";
import { parseTimestamp } from "../../../lib/timestamp.ts";
import { AppError } from "../../../platform/errors/app-error.ts";

/** A time in a request. */
export const momentField = (description: string) =>
  Type.Optional(Type.String({ maxLength: 40, examples: ["2027-01-01T00:00:00Z"], description }));

/** `null` if it is absent. */
export function parseMoment(text: string | undefined, param: string): Date | null {
  if (text === undefined) return null;
  const moment = parseTimestamp(text);
  if (moment !== null) return moment;
  const message = `\`${param}\` must be a time with offset, such as 2027-01-01T00:00:00Z.`;
  throw new AppError("invalid_parameter", message, { param });
}

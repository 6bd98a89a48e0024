import { Type } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";

const reasonCharactersMax = 500;

export const reasonField = Type.String({
  maxLength: 2000,
  description: "1 to 500 characters, for the audit log. Customers don't see it.",
});

/** The body of a change that needs nothing else. */
export const reasonSchema = Type.Object({ reason: reasonField }, { additionalProperties: false });

/** Trimmed. */
export function requireReason(text: string): string {
  const reason = text.trim();
  if (reason !== "" && reason.length <= reasonCharactersMax) return reason;
  throw new AppError("invalid_parameter", `Give a reason of 1 to ${reasonCharactersMax} characters.`, {
    param: "reason",
  });
}

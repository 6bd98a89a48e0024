import type { RowType } from "../../platform/database/row-arrays.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Claim, KeptAnswer } from "./idempotency-key.ts";

/** How a claim ends: with the answer that is kept, or, without one, with a key that is free again. */
export type EndedClaim = { claim: Claim; answer: KeptAnswer | null };

/** A row of what `end_claims` takes. */
export const endedClaim: RowType<EndedClaim> = {
  name: "ended_claim",
  columns: [
    ["account_id", "text", ({ claim }) => claim.accountId],
    ["key", "text", ({ claim }) => claim.key],
    ["request_id", "text", ({ claim }) => claim.requestId],
    ["status", "smallint", ({ answer }) => answer?.status ?? null],
    ["content_type", "text", ({ answer }) => answer?.contentType ?? null],
    ["body", "bytea", ({ answer }) => answer?.body ?? null],
    ["summary", "text", ({ answer }) => answer?.summary ?? null],
  ],
};

/** Whether a claim could not be ended, because another request has taken the key over. */
export function isClaimLost(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SL002";
}

export function createTakenOver(cause?: unknown): AppError {
  return new AppError("idempotency_in_progress", "Another attempt with this Idempotency-Key has taken over.", {
    param: "Idempotency-Key",
    cause,
  });
}

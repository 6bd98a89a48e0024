import { hash } from "node:crypto";
import type { AccountId, HoldId } from "../../lib/ids.ts";
import { createRowType } from "../../platform/database/row-arrays.ts";
import { AppError } from "../../platform/errors/app-error.ts";

/** A request's lease on an account's key. Only the holder may end it. */
export type Claim = { accountId: AccountId; key: string; requestId: string };

/** A response that is stored for replay. */
export type KeptAnswer = {
  status: number;
  contentType: string;
  /** `null` if it was too large to store. */
  body: Buffer | null;
  /** A sentence that is replayed instead of a body that was not stored. */
  summary: string;
};

export type KnownKey = {
  fingerprint: Buffer;
  requestId: string;
  holdId: HoldId | null;
  leaseUntil: Date;
  expiresAt: Date;
  /** `null` while the first request runs. */
  answer: KeptAnswer | null;
};

/** Larger responses are not stored. */
export const keptBytesMax = 1024 * 1024;
export const leaseMs = 60_000;

/** Two requests are the same if their method, path and raw bytes are. */
export function fingerprintRequest(path: string, rawBody: Buffer): Buffer {
  return hash("sha256", Buffer.concat([Buffer.from(`POST ${path}\n`), rawBody]), "buffer");
}

/** `answer: null` frees the key. */
export type EndedClaim = { claim: Claim; answer: KeptAnswer | null };

/** The row type that `end_claims` takes. */
export const endedClaim = createRowType<EndedClaim>("ended_claim", [
  ["account_id", "text", ({ claim }) => claim.accountId],
  ["key", "text", ({ claim }) => claim.key],
  ["request_id", "text", ({ claim }) => claim.requestId],
  ["status", "smallint", ({ answer }) => answer?.status ?? null],
  ["content_type", "text", ({ answer }) => answer?.contentType ?? null],
  ["body", "bytea", ({ answer }) => answer?.body ?? null],
  ["summary", "text", ({ answer }) => answer?.summary ?? null],
]);

/** `end_claims` raises SL002 if another request has taken over the key. */
export function isClaimLost(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SL002";
}

export function createTakenOver(cause?: unknown): AppError {
  return new AppError("idempotency_in_progress", "Another request with this Idempotency-Key has taken over.", {
    param: "Idempotency-Key",
    cause,
  });
}

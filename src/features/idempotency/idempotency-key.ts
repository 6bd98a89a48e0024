import { hash } from "node:crypto";
import type { AccountId, HoldId } from "../../lib/ids.ts";

/** A claim of an account's key for one request. Only its holder may end it. */
export type Claim = { accountId: AccountId; key: string; requestId: string };

/** An answer that can be given again. */
export type KeptAnswer = {
  status: number;
  contentType: string;
  /** `null` where it was too large to keep. */
  body: Buffer | null;
  /** A sentence that tells of an answer that was not kept. */
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

/** An answer larger than this is not kept. */
export const keptBytesMax = 1024 * 1024;
export const leaseMs = 60_000;

/** What makes two requests the same: the method, the path and the bytes as they were sent. */
export function fingerprintRequest(path: string, rawBody: Buffer): Buffer {
  return hash("sha256", Buffer.concat([Buffer.from(`POST ${path}\n`), rawBody]), "buffer");
}

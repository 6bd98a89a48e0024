import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

export type KeyClaim = { accountId: AccountId; key: string; requestId: string };

/** A response that can be replayed; `body` is `null` if it was too large to store. */
export type RememberedAnswer = { status: number; contentType: string; body: Buffer | null; summary: string };

/** The idempotency feature, injected because features of one rank do not import each other. */
export type KeyedRequests = {
  /** Throws if the header is not a valid key. */
  parseKey(header: string | string[] | undefined): string | null;
  /** Whether any request has used the key. */
  isKeyKnown(asked: Pick<KeyClaim, "accountId" | "key">): Promise<boolean>;
  /** Throws if the key belongs to another request, or its first request is still running. */
  claimKey(
    wanted: KeyClaim & { fingerprint: Buffer },
  ): Promise<{ kind: "claimed" } | { kind: "answered"; answer: RememberedAnswer }>;
  /** Renews the claim periodically; returns a function that stops it. */
  renewClaim(claim: KeyClaim): () => void;
  lockClaim(tx: Database, claim: KeyClaim): Promise<void>;
  keepAnswer(tx: Database, claim: KeyClaim, answer: RememberedAnswer): Promise<void>;
  freeKey(claim: KeyClaim): Promise<void>;
  /** Frees a key whose file is gone, unless the key has a newer response by now. */
  forgetAnswer(claim: Pick<KeyClaim, "accountId" | "key">, answer: RememberedAnswer): Promise<void>;
};

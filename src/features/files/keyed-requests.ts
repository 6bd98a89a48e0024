import type { AccountId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";

/** A claim of an account's `Idempotency-Key` for one request. */
export type KeyClaim = { accountId: AccountId; key: string; requestId: string };

/** An answer that can be given again; `body` is `null` where it was too large to keep. */
export type RememberedAnswer = { status: number; contentType: string; body: Buffer | null; summary: string };

/** What the feature of idempotency does, handed in by the app because features of one rank do not know each other. */
export type KeyedRequests = {
  /** Throws where the header is no key. */
  parseKey(header: string | string[] | undefined): string | null;
  /** Whether some request has the key, whichever that is. */
  isKeyKnown(asked: Pick<KeyClaim, "accountId" | "key">): Promise<boolean>;
  /** Throws where the key is another request's, or its first request still runs. */
  claimKey(
    wanted: KeyClaim & { fingerprint: Buffer },
  ): Promise<{ kind: "claimed" } | { kind: "answered"; answer: RememberedAnswer }>;
  /** Tells from time to time that the request still runs; answers how to stop that. */
  renewClaim(claim: KeyClaim): () => void;
  lockClaim(tx: Database, claim: KeyClaim): Promise<void>;
  keepAnswer(tx: Database, claim: KeyClaim, answer: RememberedAnswer): Promise<void>;
  freeKey(claim: KeyClaim): Promise<void>;
  /** Frees a key whose answer tells of something that is gone; not if it has another answer by now. */
  forgetAnswer(claim: Pick<KeyClaim, "accountId" | "key">, answer: RememberedAnswer): Promise<void>;
};

import type { AccountId, KeyId } from "../../lib/ids.ts";

export type Account = { id: AccountId; email: string; hasPassword: boolean; createdAt: Date };

/** What is known of a key once it is made; the key itself is not. */
export type ApiKey = {
  id: KeyId;
  accountId: AccountId;
  name: string;
  lastFour: string;
  createdAt: Date;
  revokedAt: Date | null;
};

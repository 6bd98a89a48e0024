import type { AccountId, UserId } from "../../../../lib/ids.ts";

/** A person who signs in. */
export type User = {
  id: UserId;
  accountId: AccountId;
  email: string;
  name: string | null;
  passwordHash: string | null;
  emailVerifiedAt: Date | null;
  isOperator: boolean;
  /** Sealed. */
  totpSecret: Buffer | null;
  totpSecretWaiting: Buffer | null;
  createdAt: Date;
};

/** Whether a password alone does not sign this person in. */
export function hasSecondFactor({ totpSecret }: User): boolean {
  return totpSecret !== null;
}

import type { AccountId, UserId } from "../../../../lib/ids.ts";

export type User = {
  id: UserId;
  accountId: AccountId;
  email: string;
  name: string | null;
  passwordHash: string | null;
  emailVerifiedAt: Date | null;
  isOperator: boolean;
  /** Encrypted. */
  totpSecret: Buffer | null;
  totpSecretWaiting: Buffer | null;
  createdAt: Date;
};

/** Whether sign-in requires a second factor. */
export function hasSecondFactor({ totpSecret }: User): boolean {
  return totpSecret !== null;
}

import type { AccountId, UserId } from "../../../../lib/ids.ts";
import type { Database } from "../../../../platform/database/database.ts";

export type User = {
  id: UserId;
  accountId: AccountId;
  email: string;
  name: string | null;
  passwordHash: string | null;
  emailVerifiedAt: Date | null;
  /** Encrypted. */
  totpSecret: Buffer | null;
  totpSecretWaiting: Buffer | null;
  createdAt: Date;
};

/** Whether sign-in requires a second factor. */
export function hasSecondFactor({ totpSecret }: User): boolean {
  return totpSecret !== null;
}

export type SignUpPolicy = "open" | "invite" | "closed";

/** `isWelcome`: whether the account gets the welcome credit. */
type NewPerson = Pick<User, "email" | "name" | "passwordHash"> & { isWelcome: boolean };

/** Opens an account and its user with a verified address, within the transaction. */
export type OpenAccount = (tx: Database, person: NewPerson) => Promise<void>;

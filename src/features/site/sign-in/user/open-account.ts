import type { Database } from "../../../../platform/database/database.ts";

type NewPerson = {
  email: string;
  name: string | null;
  passwordHash: string | null;
  /** Whether the account gets the welcome credit. */
  isWelcome: boolean;
};

/** Opens an account and its user with a verified address, within the transaction. */
export type OpenAccount = (tx: Database, person: NewPerson) => Promise<void>;

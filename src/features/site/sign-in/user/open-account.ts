import type { Database } from "../../../../platform/database/database.ts";

/** A person who signs up. */
type NewPerson = {
  email: string;
  name: string | null;
  passwordHash: string | null;
  /** Whether the account begins with the welcome credit. */
  isWelcome: boolean;
};

/** Opens an account and its person, whose address is proven, within the transaction. */
export type OpenAccount = (tx: Database, person: NewPerson) => Promise<void>;

import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import type { Counters } from "../../../platform/counters/counters.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Mailer } from "../../../platform/mail/create-mailer.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import type { BackgroundWork } from "./background-work.ts";
import type { Passwords } from "./password/create-passwords.ts";

/** Somebody who gets an account by signing up. */
export type NewPerson = {
  email: string;
  name: string | null;
  passwordHash: string | null;
};

type SignUpPolicy = "open" | "invite" | "closed";

/** What the operations of sign-in work with. */
export type SignInParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  logger: Logger;
  mailer: Mailer;
  passwords: Passwords;
  /** For what whoever asks must not be able to time. */
  background: BackgroundWork;
  siteUrl: string;
  signUp: SignUpPolicy;
  /** Keys that are not in the database: for what is sealed in it, and for what is too short to be hashed plainly. */
  keys: { totp: Buffer; backupCodes: Buffer };
  /** Opens an account and its person, with a proven address, within the transaction. */
  openAccount(tx: Database, person: NewPerson): Promise<void>;
};

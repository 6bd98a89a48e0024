import type { Duplex } from "node:stream";
import type { MailOutbox } from "../../platform/mail/mail-outbox.ts";

/** What a process has of the gateway that it is one process of. */
export type Siblings = {
  /** How many they are, with itself. */
  processes: number;
  /** To the supervisor, which counts limits for all of them. */
  counters: Duplex;
  outbox: MailOutbox;
  /** Whether this process does what one of them alone must do. */
  isLead(): boolean;
};

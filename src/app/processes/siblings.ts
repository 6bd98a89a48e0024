import type { Duplex } from "node:stream";
import type { MailOutbox } from "../../platform/mail/mail-outbox.ts";

/** A process's view of its gateway. */
export type Siblings = {
  /** The number of processes, including this one. */
  processes: number;
  /** To the supervisor's counters. */
  counters: Duplex;
  outbox: MailOutbox;
  /** Whether this process does once-per-gateway work. */
  isLead(): boolean;
};

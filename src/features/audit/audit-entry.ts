/** Who acted. `command` is the command line on a host with the database; `system` is the gateway itself. */
export type AuditActor = {
  kind: "operator" | "key" | "user" | "command" | "system";
  /** A user's or key's id; `null` for `command` and `system`. */
  id: string | null;
  /** Readable without a lookup: an e-mail address, a key's name or a host's user name. */
  name: string;
};

export const actorKinds = [
  "operator",
  "key",
  "user",
  "command",
  "system",
] as const satisfies readonly AuditActor["kind"][];

/** Facts about the subject. Never secrets: no passwords, keys, tokens or codes. */
export type AuditFacts = Readonly<Record<string, unknown>>;

export type NewAuditEntry = {
  actor: AuditActor;
  /** The IP address; `null` for commands on the host. */
  address: string | null;
  /** `noun.verb`, such as `account.suspended`. */
  action: string;
  /** The id of what was changed. */
  subject: string | null;
  /** The customer's account that it concerns. */
  accountId: string | null;
  reason: string | null;
  before: AuditFacts | null;
  after: AuditFacts | null;
  requestId: string | null;
};

export type AuditEntry = NewAuditEntry & {
  /** Gapless, in the order of commits. */
  number: bigint;
  createdAt: Date;
  hash: string;
};

export type AuditFilter = {
  actor: string | null;
  /** An action, or a noun with all its actions. */
  action: string | null;
  subject: string | null;
  accountId: string | null;
  from: Date | null;
  to: Date | null;
};

export const everyEntry: AuditFilter = {
  ...{ actor: null, action: null, subject: null, accountId: null, from: null, to: null },
};

import type { Budget } from "../../lib/budget.ts";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { LimitSet } from "../../lib/limit-set.ts";
import type { PlanPeriodLength, Quotas } from "../../lib/plan-terms.ts";

/** Terms that accounts share. Limits it does not set fall back to the standard ones. */
export type Plan = {
  id: string;
  name: string;
  limits: Partial<LimitSet>;
  /** How long the quotas last. */
  period: PlanPeriodLength;
  quotas: Quotas;
  createdAt: Date;
};

export type Account = {
  id: AccountId;
  email: string;
  planId: string | null;
  suspendedAt: Date | null;
  /** A new account that has spent its daily maximum makes no paid calls until then. */
  spendCappedUntil: Date | null;
  /** IANA name. The account's days begin and end in this zone. */
  timeZone: string;
  /** Override the plan's limits. */
  limits: Partial<LimitSet>;
  createdAt: Date;
};

/** `null` means unrestricted. */
export type KeyRestrictions = {
  expiresAt: Date | null;
  modelIds: readonly string[] | null;
  endpoints: readonly string[] | null;
  addresses: readonly string[] | null;
  budget: Budget | null;
  limits: Partial<LimitSet>;
};

/** A stored key. Its secret is not stored, only its hash. */
export type ApiKey = KeyRestrictions & {
  id: KeyId;
  accountId: AccountId;
  name: string;
  lastFour: string;
  /** The key that the console's own calls are counted under. */
  isConsole: boolean;
  /** The first key in this key's chain of rotations; its own id if it replaced none. */
  lineageId: KeyId;
  /** Whether request and response bodies of its calls are stored. */
  logsContent: boolean;
  createdAt: Date;
  revokedAt: Date | null;
};

export const unrestricted: KeyRestrictions = {
  expiresAt: null,
  modelIds: null,
  endpoints: null,
  addresses: null,
  budget: null,
  limits: {},
};

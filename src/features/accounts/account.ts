import type { Budget } from "../../lib/budget.ts";
import type { AccountId, KeyId } from "../../lib/ids.ts";
import type { LimitSet } from "../../lib/limit-set.ts";
import type { PlanPeriodLength, Quotas } from "../../lib/plan-terms.ts";

/** What accounts of a kind have in common. Limits that it leaves open are the standard ones. */
export type Plan = {
  id: string;
  name: string;
  limits: Partial<LimitSet>;
  /** How long its quotas last, and what they are. */
  period: PlanPeriodLength;
  quotas: Quotas;
  createdAt: Date;
};

export type Account = {
  id: AccountId;
  email: string;
  planId: string | null;
  suspendedAt: Date | null;
  /** In which its days begin and end, as IANA names it. */
  timeZone: string;
  /** Its own limits go before those of its plan. */
  limits: Partial<LimitSet>;
  createdAt: Date;
};

/** What a key may be narrowed to. `null` means that it is not. */
export type KeyRestrictions = {
  expiresAt: Date | null;
  modelIds: readonly string[] | null;
  endpoints: readonly string[] | null;
  addresses: readonly string[] | null;
  budget: Budget | null;
  limits: Partial<LimitSet>;
};

/** What is known of a key once it is made; the key itself is not. */
export type ApiKey = KeyRestrictions & {
  id: KeyId;
  accountId: AccountId;
  name: string;
  lastFour: string;
  /** Whether it stands for what the account's people do in the console. */
  isConsole: boolean;
  /** The first of the keys that this one goes back to by rotations; itself, if it replaced none. */
  lineageId: KeyId;
  /** Whether the bodies of its calls and of their answers are kept. */
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

export const quotaKinds = ["text", "image", "video"] as const;
/** Quotas count tokens, images or seconds instead of money. */
export type QuotaKind = (typeof quotaKinds)[number];
export type Quotas = Record<QuotaKind, bigint>;

export const planPeriods = ["day", "week", "month"] as const;
export type PlanPeriodLength = (typeof planPeriods)[number];

/** The quotas a plan grants in each period. */
export type PlanTerms = { planId: string; planName: string; period: PlanPeriodLength; quotas: Quotas };

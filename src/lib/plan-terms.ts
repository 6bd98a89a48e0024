export const quotaKinds = ["text", "image", "video"] as const;
/** What is counted without money: tokens, images, seconds. */
export type QuotaKind = (typeof quotaKinds)[number];
export type Quotas = Record<QuotaKind, bigint>;

export const planPeriods = ["day", "week", "month"] as const;
export type PlanPeriodLength = (typeof planPeriods)[number];

/** What a plan gives its accounts in each of its periods. */
export type PlanTerms = { planId: string; planName: string; period: PlanPeriodLength; quotas: Quotas };

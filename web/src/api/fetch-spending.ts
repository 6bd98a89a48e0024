import { api, ask } from "./console-api.ts";

export type ChargeFilter = { from?: string; to?: string; model?: string; key_id?: string };
export type UsageQuestion = ChargeFilter & { group_by: string };

const latestMax = 5;
const checkoutsAtOnce = 5;
const documentsAtOnce = 10;

/** The balance, slightly stale; every spending action refreshes it. */
export const getBalance = () => ask(api.GET("/balance"));
/** Debt from payments that were reversed after their credit was spent. */
export const getDebt = () => ask(api.GET("/debt"));

/** The saved card, and when it is charged. */
export const getTopUp = () => ask(api.GET("/auto_top_up"));
export const getAlerts = () => ask(api.GET("/alerts"));

export const listBuckets = () => ask(api.GET("/buckets"));

export const listHolds = () => ask(api.GET("/holds", { params: { query: { limit: latestMax } } }));

export const getUsage = (query: UsageQuestion) => ask(api.GET("/usage", { params: { query } }));
export const getCharge = (id: string) => ask(api.GET("/charges/{charge_id}", { params: { path: { charge_id: id } } }));
export const listLatestCharges = () => ask(api.GET("/charges", { params: { query: { limit: latestMax } } }));
export const listTaskCharges = (taskId: string) =>
  ask(api.GET("/charges", { params: { query: { task_id: taskId, limit: 1 } } }));

export const listCharges = (after: string | undefined, filter: ChargeFilter) =>
  ask(api.GET("/charges", { params: { query: { ...filter, ...(after === undefined ? {} : { after }) } } }));

/** The end day is exclusive. */
export type StatementRange = { from?: string; to?: string };

export const listEntries = (after: string | undefined, range: StatementRange) =>
  ask(api.GET("/ledger", { params: { query: { ...range, ...(after === undefined ? {} : { after }) } } }));

export const getCheckout = (id: string) => ask(api.GET("/checkouts/{id}", { params: { path: { id } } }));

export const listCheckouts = (after: string | undefined) =>
  ask(
    api.GET("/checkouts", {
      params: { query: { limit: checkoutsAtOnce, ...(after === undefined ? {} : { after }) } },
    }),
  );

export const getBillingDetails = () => ask(api.GET("/billing_details"));

export const listDocuments = (after: string | undefined) =>
  ask(
    api.GET("/documents", {
      params: { query: { limit: documentsAtOnce, ...(after === undefined ? {} : { after }) } },
    }),
  );

export type Usage = Awaited<ReturnType<typeof getUsage>>;
export type Charge = Awaited<ReturnType<typeof listCharges>>["data"][number];
export type ExplainedCharge = Awaited<ReturnType<typeof getCharge>>;
export type Bucket = Awaited<ReturnType<typeof listBuckets>>["data"][number];
export type Hold = Awaited<ReturnType<typeof listHolds>>["data"][number];
export type StatementEntry = Awaited<ReturnType<typeof listEntries>>["data"][number];
export type AutoTopUp = Awaited<ReturnType<typeof getTopUp>>;
export type MailAlerts = Awaited<ReturnType<typeof getAlerts>>;
export type BillingDetails = Awaited<ReturnType<typeof getBillingDetails>>;
export type BillingDocument = Awaited<ReturnType<typeof listDocuments>>["data"][number];
export type Checkout = Awaited<ReturnType<typeof getCheckout>>;

import { ask } from "../../api/console-api.ts";
import { adminApi } from "./admin-api.ts";

const pageSize = 50;
const page = (after: string | undefined) => ({ limit: pageSize, ...(after === undefined ? {} : { after }) });

export const getIdentity = () => ask(adminApi.GET("/identity"));

export type AccountFilter = { q?: string; plan?: string; status?: "active" | "suspended" | "frozen" | "closed" };

export const listAccounts = (after: string | undefined, filter: AccountFilter) =>
  ask(adminApi.GET("/accounts", { params: { query: { ...filter, ...page(after) } } }));

export type ListedAccount = Awaited<ReturnType<typeof listAccounts>>["data"][number];

export const getAccount = (id: string) =>
  ask(adminApi.GET("/accounts/{account_id}", { params: { path: { account_id: id } } }));

export type AdminAccount = Awaited<ReturnType<typeof getAccount>>;

export const listAccountKeys = (after: string | undefined, id: string) =>
  ask(adminApi.GET("/accounts/{account_id}/keys", { params: { path: { account_id: id }, query: page(after) } }));

export type AccountKey = Awaited<ReturnType<typeof listAccountKeys>>["data"][number];

export const listAccountCharges = (after: string | undefined, id: string) =>
  ask(
    adminApi.GET("/accounts/{account_id}/charges", {
      params: { path: { account_id: id }, query: { ...page(after), limit: 10 } },
    }),
  );

export type AccountCharge = Awaited<ReturnType<typeof listAccountCharges>>["data"][number];

export const searchEverything = (q: string) => ask(adminApi.GET("/search", { params: { query: { q } } }));

export type AdminHit = Awaited<ReturnType<typeof searchEverything>>["data"][number];

export type RequestQuery = {
  account_id?: string;
  key_id?: string;
  model?: string;
  upstream?: string;
  status?: string;
  error_code?: string;
  failed_attempts?: "any";
  from?: string;
  to?: string;
};

export const listRequests = (after: string | undefined, filter: RequestQuery) =>
  ask(adminApi.GET("/requests", { params: { query: { ...filter, ...page(after) } } }));

export type ListedRequest = Awaited<ReturnType<typeof listRequests>>["data"][number];

export const getRequest = (id: string) =>
  ask(adminApi.GET("/requests/{request_id}", { params: { path: { request_id: id } } }));

export type ExplainedRequest = Awaited<ReturnType<typeof getRequest>>;

export const listAccountNotes = (after: string | undefined, id: string) =>
  ask(
    adminApi.GET("/accounts/{account_id}/notes", {
      params: { path: { account_id: id }, query: { ...page(after), limit: 10 } },
    }),
  );

export const listPlans = () => ask(adminApi.GET("/plans"));

export type AuditQuery = { actor?: string; action?: string; subject?: string; account_id?: string };

export const listAuditEntries = (after: string | undefined, filter: AuditQuery) =>
  ask(adminApi.GET("/audit", { params: { query: { ...filter, ...page(after) } } }));

export type AuditEntry = Awaited<ReturnType<typeof listAuditEntries>>["data"][number];

export const listOperators = () => ask(adminApi.GET("/operators"));

export type ListedOperator = Awaited<ReturnType<typeof listOperators>>["data"][number];

export const listAdminKeys = (after: string | undefined) =>
  ask(adminApi.GET("/keys", { params: { query: page(after) } }));

export type AdminKey = Awaited<ReturnType<typeof listAdminKeys>>["data"][number];

export const verifyAuditLog = () => ask(adminApi.GET("/audit/verification"));

export const getToday = (day: string | undefined) =>
  ask(adminApi.GET("/today", { params: { query: day === undefined ? {} : { day } } }));

export type Today = Awaited<ReturnType<typeof getToday>>;

type Period = { from?: string; to?: string };

export type PaymentFilter = Period & {
  account_id?: string;
  state?: "open" | "paid" | "expired" | "failed" | "mismatched";
  origin?: "page" | "automatic" | "external";
};

export const listPayments = (after: string | undefined, filter: PaymentFilter) =>
  ask(adminApi.GET("/payments", { params: { query: { ...filter, ...page(after) } } }));

export type ListedPayment = Awaited<ReturnType<typeof listPayments>>["data"][number];

export const getPayment = (id: string) =>
  ask(adminApi.GET("/payments/{payment_id}", { params: { path: { payment_id: id } } }));

export type Payment = Awaited<ReturnType<typeof getPayment>>;
export type Reversal = Payment["reversals"][number];

export const listReversals = (after: string | undefined, kind: "refund" | "dispute" | undefined) =>
  ask(adminApi.GET("/reversals", { params: { query: { ...(kind === undefined ? {} : { kind }), ...page(after) } } }));

type EntryFilter = Period & {
  account_id?: string;
  kind?: "top_up" | "grant" | "refund" | "reversal" | "expiry" | "adjustment";
};

export const listCreditEntries = (after: string | undefined, filter: EntryFilter) =>
  ask(adminApi.GET("/credit-entries", { params: { query: { ...filter, ...page(after) } } }));

export type CreditEntry = Awaited<ReturnType<typeof listCreditEntries>>["data"][number];

export type DocumentFilter = Period & {
  account_id?: string;
  kind?: "invoice" | "credit_note" | "statement";
  number?: string;
};

export const listDocuments = (after: string | undefined, filter: DocumentFilter) =>
  ask(adminApi.GET("/documents", { params: { query: { ...filter, ...page(after) } } }));

export type ListedDocument = Awaited<ReturnType<typeof listDocuments>>["data"][number];

export const listRevenue = (by: "day" | "month") => ask(adminApi.GET("/revenue", { params: { query: { by } } }));

export type RevenueRow = Awaited<ReturnType<typeof listRevenue>>["data"][number];

export const listMargins = (filter: Period & { by: "model" | "account" | "route" }) =>
  ask(adminApi.GET("/margins", { params: { query: filter } }));

export type MarginLine = Awaited<ReturnType<typeof listMargins>>["data"][number];

export const listCodeBatches = (after: string | undefined) =>
  ask(adminApi.GET("/code-batches", { params: { query: page(after) } }));

export type CodeBatch = Awaited<ReturnType<typeof listCodeBatches>>["data"][number];

export const listCodes = (after: string | undefined, batchId: string) =>
  ask(adminApi.GET("/codes", { params: { query: { batch_id: batchId, ...page(after) } } }));

export type Code = Awaited<ReturnType<typeof listCodes>>["data"][number];

export const listFrozenAccounts = (after: string | undefined) =>
  ask(adminApi.GET("/frozen-accounts", { params: { query: page(after) } }));

export type FrozenAccount = Awaited<ReturnType<typeof listFrozenAccounts>>["data"][number];

export const listVerifications = (after: string | undefined) =>
  ask(adminApi.GET("/ledger-verifications", { params: { query: page(after) } }));

export type Verification = Awaited<ReturnType<typeof listVerifications>>["data"][number];

type TaskFilter = {
  state?: "open" | "queued" | "processing" | "failed" | "succeeded" | "canceled";
  account_id?: string;
  model?: string;
  provider?: string;
};

export const listTasks = (after: string | undefined, filter: TaskFilter) =>
  ask(adminApi.GET("/tasks", { params: { query: { ...filter, ...page(after) } } }));

export type WorkTask = Awaited<ReturnType<typeof listTasks>>["data"][number];

export const getTask = (id: string) => ask(adminApi.GET("/tasks/{task_id}", { params: { path: { task_id: id } } }));

export type Task = Awaited<ReturnType<typeof getTask>>;

type DeliveryFilter = { state?: "failing" | "pending" | "succeeded" | "failed"; account_id?: string };

export const listDeliveries = (after: string | undefined, filter: DeliveryFilter) =>
  ask(adminApi.GET("/deliveries", { params: { query: { ...filter, ...page(after) } } }));

export type Delivery = Awaited<ReturnType<typeof listDeliveries>>["data"][number];

export const listQueues = () => ask(adminApi.GET("/queues"));

export type Queue = Awaited<ReturnType<typeof listQueues>>["data"][number];

export const listStorage = (after: string | undefined) =>
  ask(adminApi.GET("/storage", { params: { query: page(after) } }));

export type AccountStorage = Awaited<ReturnType<typeof listStorage>>["data"][number];

export const getStorageTotal = () => ask(adminApi.GET("/storage", { params: { query: { limit: 1 } } }));
export const getSetup = () => ask(adminApi.GET("/setup"));

export type Setup = Awaited<ReturnType<typeof getSetup>>;

export const listUpstreams = () => ask(adminApi.GET("/upstreams"));

export type UpstreamList = Awaited<ReturnType<typeof listUpstreams>>;
export type Upstream = UpstreamList["data"][number];

export const listUpstreamEvents = (after: string | undefined) =>
  ask(adminApi.GET("/upstreams/events", { params: { query: { ...page(after), limit: 20 } } }));

export type UpstreamEvent = Awaited<ReturnType<typeof listUpstreamEvents>>["data"][number];

export const listSecrets = () => ask(adminApi.GET("/secrets"));

export type UpstreamSecret = Awaited<ReturnType<typeof listSecrets>>["data"][number];

export const listVendors = () => ask(adminApi.GET("/vendors"));

export type Vendor = Awaited<ReturnType<typeof listVendors>>["data"][number];

export const getCatalog = () => ask(adminApi.GET("/catalog"));

export type ActiveCatalog = Awaited<ReturnType<typeof getCatalog>>;

export const getCatalogVersion = (version: string) =>
  ask(adminApi.GET("/catalog/versions/{version}", { params: { path: { version } } }));

export const listCatalogVersions = (after: string | undefined) =>
  ask(adminApi.GET("/catalog/versions", { params: { query: page(after) } }));

export type CatalogVersion = Awaited<ReturnType<typeof listCatalogVersions>>["data"][number];

export const listScheduledCatalogs = (after: string | undefined) =>
  ask(adminApi.GET("/catalog/schedules", { params: { query: page(after) } }));

export type ScheduledCatalog = Awaited<ReturnType<typeof listScheduledCatalogs>>["data"][number];

export const checkCatalog = (catalog: string) => ask(adminApi.POST("/catalog/checks", { body: { catalog } }));

export type CatalogCheck = Awaited<ReturnType<typeof checkCatalog>>;

export const simulateCatalog = (catalog: string) => ask(adminApi.POST("/catalog/simulations", { body: { catalog } }));

export type CatalogSimulation = Awaited<ReturnType<typeof simulateCatalog>>;

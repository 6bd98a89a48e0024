import { keepPreviousData } from "@tanstack/react-query";
import { connection } from "./console-api.ts";
import { nameQueries, paged, whole } from "./define-queries.ts";
import { fetchBrand } from "./fetch-brand.ts";
import { getModel, listModels, listPrices } from "./fetch-catalog.ts";
import { getConnectRequest, getConnectStatus, readLoopbackPermission } from "./fetch-connect.ts";
import { getFile, listRecentFiles } from "./fetch-files.ts";
import { getKey, listKeyNames, listKeys, listLiveKeys } from "./fetch-keys.ts";
import { getContent, getRequest, listRequests, readLogState, summarizeRequests } from "./fetch-requests.ts";
import { searchAccount } from "./fetch-search.ts";
import {
  findSession,
  getAccount,
  getFirstCall,
  getSite,
  listConnectedClients,
  listOutbox,
  listPasskeys,
  listServices,
  listSessions,
} from "./fetch-session.ts";
import { getShowcase, getStatus } from "./fetch-showcase.ts";
import {
  getAlerts,
  getBalance,
  getBillingDetails,
  getCharge,
  getCheckout,
  getDebt,
  getTopUp,
  getUsage,
  listBuckets,
  listCharges,
  listCheckouts,
  listDocuments,
  listEntries,
  listHolds,
  listLatestCharges,
  listTaskCharges,
} from "./fetch-spending.ts";
import {
  countTasks,
  findTaskEvent,
  getTask,
  getTaskRequest,
  listLatestTasks,
  listRecentTasks,
  listTaskParts,
  listTasks,
  readDocument,
} from "./fetch-tasks.ts";
import { getUptime } from "./fetch-uptime.ts";
import {
  getEndpoint,
  getInbox,
  isUnderWay,
  listDeliveries,
  listEndpoints,
  listEventDeliveries,
  listEvents,
  listRecentDeliveries,
} from "./fetch-webhooks.ts";
import type { Block } from "./guide-document.ts";
import type { DocsEntry, Operation } from "./reference-document.ts";

const forGood = { staleTime: Number.POSITIVE_INFINITY } as const;

/** Immutable data: not refetched even when its subject is invalidated. */
const unchanging = { staleTime: "static" } as const;

/** The catalog changes rarely, so returning to a page need not wait for it. */
const catalog = { staleTime: 60_000 } as const;

/** The server caches this for a few seconds; polling faster returns the same. */
const showcaseMs = 30_000;
/** The server's copy is at most as old. */
const uptimeMs = 30_000;

/** Poll while a delivery is pending. */
export const deliveryRefreshMs = 2_000;

const connectPollMs = 500;

/** Every query of the pages, by subject and name. Invalidating a subject refetches all of its queries. */
export const queryTable = nameQueries({
  account: { own: whole(getAccount) },
  alerts: { now: whole(getAlerts) },
  balance: {
    now: whole(getBalance, { staleTime: 10_000 }),
    buckets: whole(listBuckets),
    debt: whole(getDebt),
    holds: whole(listHolds),
  },
  billingDetails: { own: whole(getBillingDetails) },
  // Loaded with every page. Without a change stream, it is refetched on a later navigation.
  brand: { now: whole(fetchBrand, { staleTime: 60_000 }) },
  charges: {
    latest: whole(listLatestCharges),
    list: paged(listCharges),
    one: whole(getCharge),
    ofTask: whole(listTaskCharges),
  },
  checkouts: { list: paged(listCheckouts), one: whole(getCheckout) },
  clients: { list: whole(listConnectedClients) },
  connect: {
    // The request is immutable, and after the decision there is nothing more to poll.
    request: whole(getConnectRequest, forGood),
    status: whole(getConnectStatus, {
      refetchInterval: ({ state }) =>
        state.data?.state === "waiting" || state.data === undefined ? connectPollMs : false,
      refetchIntervalInBackground: true,
    }),
    permission: whole(readLoopbackPermission, forGood),
  },
  documents: { list: paged(listDocuments) },
  firstCall: { now: whole(getFirstCall) },
  files: { recent: whole(listRecentFiles), one: whole(getFile) },
  guide: { chapter: whole(loadChapter, forGood) },
  inbox: { now: whole(getInbox) },
  keys: {
    live: whole(listLiveKeys),
    list: paged(listKeys),
    names: whole(listKeyNames, { staleTime: 30_000 }),
    one: whole(getKey),
  },
  ledger: { list: paged(listEntries) },
  models: { list: whole(listModels, catalog), one: whole(getModel, catalog), prices: whole(listPrices, catalog) },
  outbox: { list: whole(listOutbox) },
  passkeys: { list: whole(listPasskeys) },
  reference: { area: whole(loadArea, forGood), index: whole(loadDocsIndex, forGood) },
  requests: {
    list: paged(listRequests),
    one: whole(getRequest),
    content: whole(getContent),
    state: whole(readLogState),
    summary: whole(summarizeRequests, { placeholderData: keepPreviousData }),
  },
  search: { account: whole(searchAccount, { staleTime: 10_000 }) },
  session: { current: whole(findSession, { staleTime: 30_000 }) },
  services: { list: whole(listServices) },
  sessions: { list: whole(listSessions) },
  showcase: {
    offer: whole(getShowcase, { staleTime: showcaseMs }),
    status: whole(getStatus, { staleTime: showcaseMs, refetchInterval: showcaseMs }),
  },
  site: { settings: whole(getSite, forGood) },
  tasks: {
    latest: whole(listLatestTasks),
    list: paged(listTasks),
    recent: whole(listRecentTasks),
    counts: whole(countTasks, { placeholderData: keepPreviousData }),
    one: whole(getTask),
    parts: paged(listTaskParts),
    request: whole(getTaskRequest, unchanging),
    event: whole(findTaskEvent, {
      refetchInterval: ({ state }) => (state.data?.deliveries.some(isUnderWay) === true ? deliveryRefreshMs : false),
    }),
    document: whole(readDocument, unchanging),
  },
  // Keep showing the old rows while another period or filter loads.
  topUps: { now: whole(getTopUp) },
  uptime: { current: whole(getUptime, { staleTime: uptimeMs, refetchInterval: uptimeMs }) },
  usage: { report: whole(getUsage, { placeholderData: keepPreviousData }) },
  webhooks: {
    endpoints: whole(listEndpoints),
    endpoint: whole(getEndpoint),
    recent: whole(listRecentDeliveries, {
      refetchInterval: ({ state }) => (state.data?.some(isUnderWay) === true ? deliveryRefreshMs : false),
    }),
    deliveries: paged(listDeliveries),
    events: paged(listEvents),
    eventDeliveries: whole(listEventDeliveries, {
      refetchInterval: ({ state }) => (state.data?.data.some(isUnderWay) === true ? deliveryRefreshMs : false),
    }),
  },
});

/** Docs ship with the site's own files. The query key is the id: functions cannot be part of a key. */
type Lazy<Module> = { id: string; load(): Promise<Module> };

async function loadChapter(chapter: Lazy<{ blocks: Block[] }>): Promise<Block[]> {
  return (await loadPart(chapter.load)).blocks;
}

async function loadArea(area: Lazy<{ operations: Operation[] }>): Promise<Operation[]> {
  return (await loadPart(area.load)).operations;
}

/** The search index of guide and reference. */
async function loadDocsIndex(): Promise<DocsEntry[]> {
  return (await loadPart(() => import("virtual:docs-index"))).entries;
}

async function loadPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    connection.suspect();
    throw new Error("This part could not be loaded. Reload the page to get the latest version.", { cause });
  }
}

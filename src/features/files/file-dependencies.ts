import type { Semaphore } from "../../lib/semaphore.ts";
import type { Counters } from "../../platform/counters/counters.ts";
import type { Spool } from "../../platform/storage/create-spool.ts";
import type { FileRemoval } from "./create-file-removal.ts";
import type { FileStorage, StorageDependencies } from "./create-file-storage.ts";
import type { Inspect } from "./inspect-spooled.ts";
import type { KeyedRequests } from "./keyed-requests.ts";

export type FileDependencies = StorageDependencies & {
  removal: FileRemoval;
  storage: FileStorage;
  spool: Spool;
  inspect: Inspect;
  inspections: Semaphore;
  counters: Counters;
  keyedRequests: KeyedRequests;
  linkKey: Buffer;
  siteUrl: string;
};

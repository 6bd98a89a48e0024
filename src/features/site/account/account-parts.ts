import type { Clock } from "../../../lib/clock.ts";
import type { IdSource } from "../../../lib/ids.ts";
import type { Counters } from "../../../platform/counters/counters.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import type { LiveCatalog } from "../../catalog/index.ts";

/** What the pages about an account work with. */
export type AccountParts = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  randomBytes: (count: number) => Uint8Array;
  counters: Counters;
  logger: Logger;
  catalog: Pick<LiveCatalog, "current">;
  currency: string;
};

import type { Clock } from "../../lib/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Calls } from "../calls/index.ts";
import type { Chat } from "../chat/index.ts";
import type { ItemLimits } from "./item-reader.ts";
import type { TextQuota } from "./text-quota.ts";

export type ResponseDependencies = {
  database: Database;
  clock: Clock;
  logger: Logger;
  calls: Calls;
  chat: Pick<Chat, "plan">;
  quota: TextQuota;
  itemLimits: ItemLimits;
  /** 0 means that nothing is stored. */
  retentionMs: number;
};

import type { Caller } from "../../lib/caller.ts";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource, KeyId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { Calls } from "../calls/index.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { Chat } from "../chat/index.ts";
import type { Files } from "../files/index.ts";
import type { ClaimTerms } from "../idempotency/index.ts";
import type { ItemLimits } from "./item-reader.ts";
import type { TextQuota } from "./text-quota.ts";

export type ResponseDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  calls: Calls;
  chat: Pick<Chat, "plan" | "forwards">;
  catalog: Pick<LiveCatalog, "current">;
  files: Pick<Files, "getFile" | "openFile">;
  quota: TextQuota;
  itemLimits: ItemLimits;
  /** How idempotency keys are claimed. */
  claims: Required<ClaimTerms>;
  /** The caller of an API key. Throws if the key may make no calls any more. */
  getKeyCaller(keyId: KeyId): Promise<Caller>;
  /** 0 means that nothing is stored. */
  retentionMs: number;
};

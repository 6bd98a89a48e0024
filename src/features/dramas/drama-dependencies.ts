import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { CostPayer } from "../calls/index.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { Files } from "../files/index.ts";
import type { AskWriter } from "./ask-writer.ts";
import type { DocumentStorage } from "./document-storage.ts";
import type { DramaFailpoint } from "./drama-failpoints.ts";

/** What the feature's operations share, built once by `createDramas`. */
export type DramaDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  catalog: LiveCatalog;
  files: Files;
  documents: DocumentStorage;
  /** The account and model that the writing is for. */
  askFor(payer: CostPayer): AskWriter;
  /** The working directory for assembling films. */
  folder: string;
  /** Tests kill the process at these points. */
  failpoint(name: DramaFailpoint): void;
};

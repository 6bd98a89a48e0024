import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { Chat } from "../chat/index.ts";
import type { Files } from "../files/index.ts";
import type { Orchestrate, Tasks } from "../tasks/index.ts";
import { createWriter } from "./ask-writer.ts";
import { createDocumentShelf } from "./document-shelf.ts";
import type { DramaFailpoint, DramaParts } from "./drama-parts.ts";
import { addDramaRoutes } from "./drama-routes.ts";
import { orchestrateDrama } from "./orchestrate-drama.ts";

export type Dramas = {
  /** POST /dramas/generations. */
  addRoutes(v1: HttpServer): void;
  /** Takes dramas further, for the worker of tasks. */
  orchestrate: Orchestrate;
};

type DramaDependencies = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  catalog: LiveCatalog;
  files: Files;
  chat: Pick<Chat, "ask">;
  tasks: Pick<Tasks, "submit">;
  /** Where films are put together. */
  folder: string;
  failpoint?(name: DramaFailpoint): void;
};

/** Each film that is put together takes whole cores for a while. */
const filmsAtOnceMax = 1;

export function createDramas(given: DramaDependencies): Dramas {
  const shelf = createDocumentShelf(given.files);
  const parts: DramaParts = {
    ...given,
    shelf,
    ask: createWriter(given.chat),
    productions: createSemaphore(filmsAtOnceMax),
    failpoint: given.failpoint ?? (() => {}),
  };
  return {
    addRoutes: (v1) => addDramaRoutes(v1, { ...given, shelf }),
    orchestrate: (task, context) => orchestrateDrama(parts, task, context),
  };
}

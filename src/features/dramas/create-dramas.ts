import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { Chat } from "../chat/index.ts";
import type { Files } from "../files/index.ts";
import type { Orchestrate, Tasks } from "../tasks/index.ts";
import { createWriter } from "./ask-writer.ts";
import { createDocumentWriter } from "./create-document-writer.ts";
import { createFilmProducer } from "./create-film-producer.ts";
import { createDocumentStorage } from "./document-storage.ts";
import type { DramaFailpoint } from "./drama-failpoints.ts";
import { addDramaRoutes } from "./drama-routes.ts";
import { orchestrateDrama } from "./orchestrate-drama.ts";
import { prepareDrama } from "./prepare-drama.ts";

export type Dramas = {
  /** POST /dramas/generations. */
  addRoutes(v1: HttpServer): void;
  /** Advances dramas, for the task worker. */
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
  /** The working directory for assembling films. */
  folder: string;
  failpoint?(name: DramaFailpoint): void;
};

export function createDramas(dependencies: DramaDependencies): Dramas {
  const { database, clock, ids, logger, catalog, files, chat, tasks, folder, failpoint = () => {} } = dependencies;
  const documents = createDocumentStorage(files);
  const writer = createDocumentWriter({ documents, ask: createWriter(chat), catalog, failpoint });
  const produceFilm = createFilmProducer({ logger, files, folder, failpoint });
  return {
    addRoutes: (v1) =>
      addDramaRoutes(v1, { tasks, prepare: prepareDrama({ database, clock, catalog, files, documents }) }),
    orchestrate: (task, context) =>
      orchestrateDrama({ clock, ids, logger, catalog, writer, produceFilm }, task, context),
  };
}

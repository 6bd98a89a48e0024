import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import { createTurnstile } from "../../lib/turnstile.ts";
import type { Database } from "../../platform/database/database.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import type { Chat } from "../chat/index.ts";
import type { Files } from "../files/index.ts";
import type { Direct, Tasks } from "../tasks/index.ts";
import { createWriter } from "./ask-writer.ts";
import { directDrama } from "./direct-drama.ts";
import { createDocumentShelf } from "./document-shelf.ts";
import type { DramaParts, DramaPoint } from "./drama-parts.ts";
import { addDramaRoutes } from "./drama-routes.ts";

export type Dramas = {
  /** POST /dramas/generations. */
  addRoutes(v1: HttpServer): void;
  /** Takes dramas further, for the worker of tasks. */
  direct: Direct;
};

type DramaMakings = {
  database: Database;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  catalog: LiveCatalog;
  files: Files;
  chat: Pick<Chat, "ask">;
  tasks: Pick<Tasks, "submit">;
  settings: { data_dir: string };
  reach?(point: DramaPoint): void;
};

/** Each film that is put together takes whole cores for a while. */
const filmsAtOnceMax = 1;

export function createDramas(makings: DramaMakings): Dramas {
  const shelf = createDocumentShelf(makings.files);
  const parts: DramaParts = {
    ...makings,
    shelf,
    ask: createWriter(makings.chat),
    folder: join(makings.settings.data_dir, "films"),
    takeTurn: createTurnstile(filmsAtOnceMax).pass,
    reach: makings.reach ?? (() => {}),
  };
  return {
    addRoutes: (v1) => addDramaRoutes(v1, { ...makings, shelf }),
    direct: (task, desk) => directDrama(parts, task, desk),
  };
}

import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { CostPayer } from "../calls/index.ts";
import type { Chat } from "../chat/index.ts";
import type { Quotable } from "../quotes/index.ts";
import type { Orchestrate, Tasks } from "../tasks/index.ts";
import { createWriter } from "./ask-writer.ts";
import { createDocumentWriter } from "./create-document-writer.ts";
import { createFilmProducer } from "./create-film-producer.ts";
import { createDocumentStorage } from "./document-storage.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import { addDramaRoutes, listDramaQuotables } from "./drama-routes.ts";
import { orchestrateDrama } from "./orchestrate-drama.ts";
import { prepareDrama } from "./prepare-drama.ts";
import { getFilmed, prepareReshoot } from "./prepare-reshoot.ts";

export type Dramas = {
  /** POST /dramas/generations, POST /dramas/{task_id}/shots/{shot_number}. */
  addRoutes(v1: HttpServer): void;
  quotables: readonly Quotable[];
  /** Advances dramas, for the task worker. */
  orchestrate: Orchestrate;
};

type GivenDependencies = Omit<DramaDependencies, "documents" | "askFor" | "failpoint"> &
  Partial<Pick<DramaDependencies, "failpoint">> & {
    chat: Pick<Chat, "ask">;
    tasks: Pick<Tasks, "submit" | "quote">;
  };

export function createDramas({ chat, tasks, failpoint = () => {}, ...given }: GivenDependencies): Dramas {
  const documents = createDocumentStorage(given.files);
  const dependencies = { ...given, documents, askFor: (payer: CostPayer) => createWriter(chat, { payer }), failpoint };
  const writer = createDocumentWriter(dependencies);
  const produceFilm = createFilmProducer(dependencies);
  const routes: Parameters<typeof addDramaRoutes>[1] = {
    tasks,
    prepare: prepareDrama(dependencies),
    reshoot: (asked) => ({
      prepare: prepareReshoot(dependencies, asked),
      findModel: async ({ accountId }) => (await getFilmed(dependencies, { taskId: asked.taskId, accountId })).model,
    }),
  };
  return {
    addRoutes: (v1) => addDramaRoutes(v1, routes),
    quotables: listDramaQuotables(routes),
    orchestrate: (task, context) => orchestrateDrama({ ...dependencies, writer, produceFilm }, task, context),
  };
}

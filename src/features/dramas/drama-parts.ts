import type { Clock } from "../../lib/clock.ts";
import type { IdSource } from "../../lib/ids.ts";
import type { Semaphore } from "../../lib/semaphore.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import type { DramaStages, LiveCatalog, Model } from "../catalog/index.ts";
import type { Files } from "../files/index.ts";
import type { AskWriter } from "./ask-writer.ts";
import type { DocumentShelf } from "./document-shelf.ts";

/** What taking a drama further works with. */
export type DramaParts = {
  clock: Clock;
  ids: IdSource;
  logger: Logger;
  catalog: LiveCatalog;
  files: Files;
  shelf: DocumentShelf;
  ask: AskWriter;
  /** Where films are put together. */
  folder: string;
  /** Lets few put films together at a time: each takes whole cores. */
  productions: Semaphore;
  /** Told where a drama has got to. Tests let the process die there. */
  failpoint(name: DramaFailpoint): void;
};

/** The places between two writes where a crash must do no harm, beside those of its tasks. */
export const dramaFailpoints = [
  "steps-written",
  "document-written",
  "document-kept",
  "film-made",
  "film-kept",
] as const;
export type DramaFailpoint = (typeof dramaFailpoints)[number];

/** The models of a drama's stages, as the catalog names them now: routes may have changed while it ran. */
export function getStageModels({ catalog }: Pick<DramaParts, "catalog">, modelId: string) {
  const { modelById } = catalog.current();
  const stages: DramaStages = modelById.get(modelId)?.stages ?? {};
  const get = (id: string | undefined): Model => {
    const model = id === undefined ? undefined : modelById.get(id);
    if (model !== undefined) return model;
    throw new AppError("model_unroutable", "Nothing can serve this model at the moment.");
  };
  return {
    script: () => get(stages.script?.chat),
    roles: () => get(stages.roles?.chat),
    storyboard: () => get(stages.storyboard?.chat),
    picture: () => get(stages.storyboard?.image),
    video: () => get(stages.video?.video),
    speech: () => get(stages.video?.speech),
    /** `null` where nobody is made to speak. */
    avatar: () => (stages.video?.avatar === undefined ? null : get(stages.video.avatar)),
  };
}

export type StageModels = ReturnType<typeof getStageModels>;

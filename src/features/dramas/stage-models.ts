import { AppError } from "../../platform/errors/app-error.ts";
import type { DramaStages, LiveCatalog, Model } from "../catalog/index.ts";

/** The models of a drama's stages, as the catalog names them now: routes may have changed while it ran. */
export function getStageModels(catalog: LiveCatalog, modelId: string) {
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

import { AppError } from "../../platform/errors/app-error.ts";
import type { DramaStages, LiveCatalog, Model } from "../catalog/index.ts";

/** The models of a drama's stages in the current catalog, which may have changed while the drama ran. */
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
    image: () => get(stages.storyboard?.image),
    video: () => get(stages.video?.video),
    speech: () => get(stages.video?.speech),
    /** `null` if the model uses no avatars. */
    avatar: () => (stages.video?.avatar === undefined ? null : get(stages.video.avatar)),
  };
}

export type StageModels = ReturnType<typeof getStageModels>;

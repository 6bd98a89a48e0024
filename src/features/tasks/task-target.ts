import type { GenerationInput, GenerationProvider, GenerationRequest } from "../../providers/generation.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { UpstreamTarget } from "../../providers/upstream-health.ts";
import type { Capability, CatalogView, RouteTarget } from "../catalog/index.ts";

/** A target with its adapter and time-out. */
export type TaskTarget = RouteTarget & { generation: GenerationProvider; timeoutMs: number };

/** What a submission needs. */
export type Handover = { target: TaskTarget; inputs: readonly GenerationInput[] };

/** A synchronous image can take minutes. */
const timeoutMsUsual = 600_000;

/** The model's current targets. */
export function listTaskTargets(view: CatalogView, modelId: string, registry: ProviderRegistry): TaskTarget[] {
  return (view.targetsByModelId.get(modelId) ?? []).flatMap((target) => {
    const generation = registry.getGeneration(target.provider);
    if (generation === null) return [];
    const { provider, route } = target;
    const timeoutMs = route.timeouts?.total_ms ?? provider.timeouts?.total_ms ?? timeoutMsUsual;
    return [{ ...target, generation, timeoutMs }];
  });
}

/** The targets that support the request, and the first obstacle of those that do not. */
export function listAbleTargets(
  targets: readonly TaskTarget[],
  { request, inputs }: { request: GenerationRequest; inputs: readonly Pick<GenerationInput, "role">[] },
) {
  const capability = findCapability(request, inputs);
  const judged = targets
    .filter(({ route }) => route.capability === undefined || route.capability === capability)
    .map((target) => ({
      target,
      obstacle: target.generation.findObstacle(request, {
        inputs,
        route: target.route,
        upstreamModel: target.upstreamModel,
      }),
    }));
  const able = judged.filter(({ obstacle }) => obstacle === null).map(({ target }) => target);
  return { able, obstacle: judged.find(({ obstacle }) => obstacle !== null)?.obstacle ?? null };
}

/** The target that a task was sent to; `null` if the catalog no longer has it. */
export function findTaskTarget(targets: readonly TaskTarget[], sent: UpstreamTarget): TaskTarget | null {
  return targets.find((target) => isSameTarget(target, sent)) ?? null;
}

export function isSameTarget(one: UpstreamTarget, other: UpstreamTarget): boolean {
  return (
    one.providerId === other.providerId &&
    one.upstreamModel === other.upstreamModel &&
    one.keyNumber === other.keyNumber
  );
}

export function nameTarget({ providerId, upstreamModel, keyNumber }: UpstreamTarget): UpstreamTarget {
  return { providerId, upstreamModel, keyNumber };
}

/** What a request asks a model for. Routes and prices may be for one capability only. */
export function findCapability(
  { type }: Pick<GenerationRequest, "type">,
  inputs: readonly Pick<GenerationInput, "role">[],
): Capability {
  const hasImages = inputs.some(({ role }) => role === "image" || role === "last-image");
  switch (type) {
    case "image":
      return hasImages ? "image_to_image" : "text_to_image";
    case "video":
      return hasImages ? "image_to_video" : "text_to_video";
    case "avatar":
      return "audio_driven_avatar";
    case "speech":
      return "text_to_speech";
  }
}

import type { Caller } from "../../../lib/caller.ts";
import { countStartedSeconds } from "../../../lib/started-seconds.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ProviderRegistry } from "../../../providers/provider-registry.ts";
import { getPrice, type LiveCatalog, type Model } from "../../catalog/index.ts";
import type { Files } from "../../files/index.ts";
import { quoteTask } from "../quote-task.ts";
import { kindsByRole } from "../task.ts";
import { listAbleTargets, listTaskTargets } from "../task-target.ts";
import type { CheckedGeneration } from "./check-generation.ts";
import type { PrepareTask } from "./create-task.ts";
import type { CommonBody } from "./generation-schema.ts";

type MediaDependencies = {
  files: Pick<Files, "findLinkedFile" | "getFile">;
  catalog: LiveCatalog;
  registry: ProviderRegistry;
};

/** Turns an endpoint's check into the preparation of its tasks. */
export type PrepareMedia = <B extends CommonBody>(check: CheckMedia<B>) => PrepareTask<B>;

export type CheckMedia<B extends CommonBody> = (body: B, model: Model) => CheckedGeneration;

/** Checks a media request by itself, against the available targets, and against the account's files. */
export function prepareMedia<B extends CommonBody>(
  dependencies: MediaDependencies,
  check: CheckMedia<B>,
): PrepareTask<B> {
  return async ({ body, caller, offered: { model, prices } }) => {
    const checked = check(await nameLinkedFiles(dependencies, caller, body), model);
    requireAbleTarget(dependencies, model, checked);
    const audioSeconds = await checkFiles(dependencies, caller, model, checked);
    const { request, inputs } = checked;
    const budgetAmount = caller.budget?.amount ?? null;
    return {
      request,
      inputs,
      steps: [],
      terms: quoteTask(getPrice(prices, checked.capability), {
        ...{ request, audioSeconds, budgetAmount },
        inputImages: inputs.filter(({ role }) => role === "image" || role === "last-image").length,
      }),
      outputCount: request.type === "image" ? request.count : 1,
      orderScope: "",
    };
  };
}

/** Replaces our own signed links by their file ids, so that no download is needed. */
async function nameLinkedFiles<B extends CommonBody & { input_images?: readonly string[]; last_image?: string }>(
  { files }: MediaDependencies,
  { accountId }: Caller,
  body: B,
): Promise<B> {
  const { input_images: images, last_image: lastImage } = body;
  const nameFile = async (image: string, param: string): Promise<string> =>
    (await files.findLinkedFile(accountId, image, { param })) ?? image;
  return {
    ...body,
    ...(images === undefined
      ? {}
      : { input_images: await Promise.all(images.map((image, index) => nameFile(image, `input_images[${index}]`))) }),
    ...(lastImage === undefined ? {} : { last_image: await nameFile(lastImage, "last_image") }),
  };
}

function requireAbleTarget(dependencies: MediaDependencies, model: Model, checked: CheckedGeneration): void {
  const view = dependencies.catalog.current();
  const targets = listTaskTargets(view, model.id, dependencies.registry);
  const { able, obstacle } = listAbleTargets(targets, checked);
  if (able.some((target) => view.health.findFault(target) === null)) return;
  if (able.length === 0 && obstacle !== null)
    throw new AppError("unsupported_capability", obstacle.message, { param: obstacle.param });
  throw new AppError("model_unroutable", "Nothing can serve this model at the moment.", {
    param: "model",
  });
}

/** Checks that the files exist and are of the right kind, as the worker does again later. Returns the audio's length. */
async function checkFiles(
  { files }: MediaDependencies,
  { accountId }: Caller,
  { limits }: Model,
  { inputs }: CheckedGeneration,
): Promise<number | null> {
  let audioSeconds: number | null = null;
  for (const input of inputs) {
    if (!("fileId" in input)) continue;
    const kinds = kindsByRole[input.role];
    const file = await files.getFile(accountId, input.fileId, { param: input.param, kinds });
    if (input.role !== "audio") continue;
    audioSeconds = Math.max(1, countStartedSeconds(file.durationMs ?? 0));
    const secondsMax = Math.max(...(limits.durations ?? [Number.POSITIVE_INFINITY]));
    if (audioSeconds > secondsMax) {
      const message = `The audio is ${audioSeconds} seconds long. This model supports at most ${secondsMax} seconds.`;
      throw new AppError("invalid_parameter", message, { param: input.param });
    }
  }
  return audioSeconds;
}

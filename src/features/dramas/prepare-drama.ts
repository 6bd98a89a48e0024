import { hash } from "node:crypto";
import { presentCanonically } from "../../lib/canonical-json.ts";
import type { AccountId, FileId } from "../../lib/ids.ts";
import type { Database } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import {
  capabilityByStage,
  type DramaStage,
  dramaStages,
  type LiveCatalog,
  listStageModels,
  type Model,
} from "../catalog/index.ts";
import type { Files } from "../files/index.ts";
import { countCharacters, type PrepareTask, type StepRecord } from "../tasks/index.ts";
import { hasListener } from "../webhooks/index.ts";
import { checkDocument, foldName, requireDifferent } from "./check-document.ts";
import { chooseLook } from "./choose-look.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { DramaDocument, Look } from "./drama-documents.ts";
import { type DramaRequest, fileSlotCount } from "./drama-request.ts";
import type { DramaBody } from "./drama-schema.ts";
import { estimateLength, limitLength } from "./estimate-length.ts";
import { quoteDrama } from "./quote-drama.ts";
import { listSteps, readSource } from "./read-source.ts";

const secondsMaxUsual = 120;
const scriptCharactersMax = 1_000_000;
const aspectRatioUsual = "16:9";

/** Validates a drama request: its source, its steps and its maximum cost. */
export function prepareDrama(dependencies: DramaDependencies): PrepareTask<DramaBody> {
  const { database, clock, catalog, files, ids } = dependencies;
  return async ({ body, caller, offered: { model, prices } }) => {
    const { accountId } = caller;
    const stage = body.stage ?? "video";
    requireStage(model, stage);
    const isHeard = body.callback_url !== undefined || caller.isConsole === true;
    if (!isHeard) await requireListener(database, accountId, clock.now());
    const { source, earlier } = await readSource(dependencies, body, { accountId, stage });
    const before = earlier === null ? null : (earlier.request as DramaRequest);
    const modelSecondsMax = Math.max(...(model.limits.durations ?? [secondsMaxUsual]));
    checkLength(source, model);
    const voices = catalog.current().modelById.get(model.stages?.video?.speech ?? "")?.limits.voices ?? [];
    if (source.kind === "document") {
      const root = typeof body.script === "object" ? "script" : "from_task_id";
      await checkDocument(files, source.document, { accountId, voices, secondsMax: modelSecondsMax, root });
    }
    const secondsMax = limitLength(source, modelSecondsMax);
    const known = describeSource(source, before);
    const isCast = listSteps({ source, stage }).includes("roles");
    const characters = await checkCharacters(files, body, { accountId, before: isCast ? before : null });
    const request: DramaRequest = {
      type: "drama",
      stage,
      title: readTitle(body.title ?? known.title),
      episode: body.episode ?? known.episode ?? 1,
      aspectRatio: chooseAspectRatio(body.aspect_ratio, known.aspectRatio, model),
      characters,
      source:
        source.kind === "text" || body.characters === undefined
          ? source
          : { kind: "document", document: applyCharacters(source.document, characters) },
      secondsMax,
      isPartialAllowed: body.allow_partial ?? false,
      subtitles: body.subtitles ?? before?.subtitles ?? "burned",
      ...chooseLook(body, { known: known.look, model, catalog, ids }),
    };
    requireRoutes(catalog, model, request);
    const names = listSteps(request);
    const stages = dramaStages.filter((each) => names.includes(each === "video" ? "film" : each));
    const budgetAmount = caller.budget?.amount ?? null;
    const secondsLikely = Math.min(estimateLength(source), secondsMax);
    return {
      request,
      inputs: [],
      steps: names.map((name): StepRecord => ({ name, state: "queued", progress: 0, output: [], taskIds: {} })),
      terms: quoteDrama(prices, { stages, secondsMax, budgetAmount }),
      likely: {
        terms: quoteDrama(prices, { stages, secondsMax: secondsLikely, budgetAmount }),
        seconds: secondsLikely,
      },
      outputCount: fileSlotCount,
      orderScope: `${stage} ${request.episode}`,
    };
  };
}

/** The caller's `client_business_id` with the request's fingerprint. */
export function describeOrder(body: DramaBody) {
  if (body.client_business_id === undefined) return null;
  return {
    clientBusinessId: body.client_business_id,
    fingerprint: hash("sha256", presentCanonically(body), "buffer"),
  };
}

export function requireStage(model: Model, stage: DramaStage): void {
  if (model.type !== "drama") {
    const message = `${model.id} is a model for ${model.type}, not for drama. GET /models?type=drama lists those.`;
    throw new AppError("unsupported_capability", message, { param: "model" });
  }
  if (model.capabilities.includes(capabilityByStage[stage])) return;
  const offered = dramaStages.filter((each) => model.capabilities.includes(capabilityByStage[each]));
  const message = `${model.id} does not offer the stage ${stage}, only: ${offered.join(", ")}.`;
  throw new AppError("unsupported_capability", message, { param: "stage" });
}

/** A drama takes long, so its caller must be able to receive its end. The console follows its own tasks. */
export async function requireListener(database: Database, accountId: AccountId, now: Date): Promise<void> {
  if (await hasListener(database, accountId, now)) return;
  throw new AppError(
    "webhook_required",
    "Dramas take long, so they need a webhook: create a webhook endpoint, send a `callback_url`, or open the account's event inbox.",
    { param: "callback_url" },
  );
}

function checkLength(source: DramaRequest["source"], { limits }: Model): void {
  const charactersMax = Math.min(limits.max_prompt_length ?? scriptCharactersMax, scriptCharactersMax);
  if (source.kind !== "text" || countCharacters(source.text) <= charactersMax) return;
  const message = `\`script\` can have at most ${charactersMax} characters for this model.`;
  throw new AppError("prompt_too_long", message, { param: "script" });
}

/** Defaults from the source. */
function describeSource(
  source: DramaRequest["source"],
  before: DramaRequest | null,
): { title?: string; episode?: number; aspectRatio?: string; look: Look } {
  if (source.kind === "text") return { look: {} };
  const { title, episode } = findHead(source.document);
  const board = source.document.object === "drama.storyboard" ? source.document : null;
  const aspectRatio = board === null ? before?.aspectRatio : board.aspect_ratio;
  const look = board ?? before ?? {};
  return { title, episode, ...(aspectRatio === undefined ? {} : { aspectRatio }), look };
}

function findHead(document: DramaDocument): { title: string; episode: number } {
  return document.object === "drama.roles" ? document.script : document;
}

function readTitle(title: string | undefined): string {
  if (title === undefined) throw new AppError("missing_parameter", "`title` is required.", { param: "title" });
  const trimmed = title.replace(/\s+/g, " ").trim();
  if (trimmed === "") throw new AppError("invalid_parameter", "`title` must not be empty.", { param: "title" });
  return trimmed;
}

/** Keeps an earlier stage's ratio if this model supports it. */
function chooseAspectRatio(asked: string | undefined, before: string | undefined, { limits }: Model): string {
  const allowed = limits.aspect_ratios ?? [aspectRatioUsual];
  if (asked === undefined)
    return before !== undefined && allowed.includes(before) ? before : (allowed[0] ?? aspectRatioUsual);
  if (allowed.includes(asked)) return asked;
  const message = `\`aspect_ratio\` must be one of these for this model: ${allowed.join(", ")}.`;
  throw new AppError("invalid_parameter", message, { param: "aspect_ratio" });
}

async function checkCharacters(
  files: Files,
  { characters }: DramaBody,
  { accountId, before }: { accountId: AccountId; before: DramaRequest | null },
): Promise<DramaRequest["characters"]> {
  if (characters === undefined) {
    for (const { referenceFileId } of before?.characters ?? []) {
      if (referenceFileId === null) continue;
      await files.getFile(accountId, referenceFileId, { param: "from_task_id", kinds: ["image"] });
    }
    return before?.characters ?? [];
  }
  requireDifferent(
    characters.map(({ name }) => name),
    (index) => `characters[${index}].name`,
  );
  return await Promise.all(
    characters.map(async ({ name, reference_file_id: fileId }, index) => {
      const trimmed = name.replace(/\s+/g, " ").trim();
      if (trimmed === "") {
        throw new AppError("invalid_parameter", `\`characters[${index}].name\` must not be empty.`, {
          param: `characters[${index}].name`,
        });
      }
      if (fileId === undefined) return { name: trimmed, referenceFileId: null };
      const param = `characters[${index}].reference_file_id`;
      await files.getFile(accountId, fileId, { param, kinds: ["image"] });
      return { name: trimmed, referenceFileId: fileId as FileId };
    }),
  );
}

/** Adds the caller's reference images to a document's roles. */
function applyCharacters(document: DramaDocument, characters: DramaRequest["characters"]): DramaDocument {
  if (document.object === "drama.script") return document;
  const { roles } = document;
  for (const [index, { name }] of characters.entries()) {
    if (roles.some((role) => foldName(role.name) === foldName(name))) continue;
    const names = roles.map((role) => role.name).join(", ");
    const message = `The document has no role ${name}. Its roles are: ${names === "" ? "none" : names}.`;
    throw new AppError("invalid_parameter", message, { param: `characters[${index}].name` });
  }
  const changed = roles.map((role) => {
    const given = characters.find(({ name }) => foldName(name) === foldName(role.name));
    return { ...role, reference_file_id: given?.referenceFileId ?? role.reference_file_id };
  });
  return { ...document, roles: changed };
}

/** Every model that will be needed must have a healthy target. */
export function requireRoutes(catalog: LiveCatalog, model: Model, { source, stage }: DramaRequest): void {
  const { targetsByModelId, health } = catalog.current();
  const names = new Set(listSteps({ source, stage }).map((name) => (name === "film" ? "video" : name)));
  const needed = listStageModels(model.stages).filter((one) => names.has(one.stage) && one.type !== "avatar");
  const isInService = (modelId: string): boolean =>
    (targetsByModelId.get(modelId) ?? []).some((target) => health.findFault(target) === null);
  const isServed = needed.length > 0 && needed.every(({ modelId }) => isInService(modelId));
  if (isServed) return;
  throw new AppError("model_unroutable", "Nothing can serve this model at the moment.", { param: "model" });
}

import type { AccountId, FileId } from "../../lib/ids.ts";
import { countStartedSeconds } from "../../lib/started-seconds.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { getTask, listTasks, type PrepareTask, type StepRecord, type Task } from "../tasks/index.ts";
import { groupChildren } from "./child-progress.ts";
import { chooseLook } from "./choose-look.ts";
import { findStoryboard } from "./create-document-writer.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { Shot, StoryboardDocument } from "./drama-documents.ts";
import { type DramaRequest, fileSlotCount, type KeptPart, type StepName, takeLook } from "./drama-request.ts";
import type { ReshootBody } from "./drama-schema.ts";
import { findStep } from "./drama-step.ts";
import { framesPerSecond, planTimeline } from "./film/plan-timeline.ts";
import { nameClip, nameKeyframe, nameLine } from "./film-shots.ts";
import { requireListener, requireRoutes, requireStage } from "./prepare-drama.ts";
import { quoteDrama } from "./quote-drama.ts";

/** The shot to make again. */
export type AskedShot = { taskId: string; shotNumber: number };

type KeptParts = Readonly<Record<string, KeptPart>>;

const stepNames = ["shots", "film"] as const satisfies readonly StepName[];
/** More than the longest drama has. */
const childrenMax = 1_000;

/** The drama whose shot is made again: a finished video of the account. */
export async function getFilmed(
  { database }: Pick<DramaDependencies, "database">,
  { taskId, accountId }: { taskId: string; accountId: AccountId },
): Promise<Task> {
  const task = await getTask(database, { id: taskId, accountId });
  if (task.type !== "drama") refuse(`${task.id} is a task of the type ${task.type}, not a drama.`);
  if (task.state !== "succeeded") refuse(`${task.id} has not succeeded: it is ${task.state}.`);
  if (findStep(task, "film") === null) refuse(`${task.id} has no video. It ended with an earlier stage.`);
  if (task.promptErasedAt !== null) refuse(`The request of ${task.id} has been erased.`);
  return task;
}

/** Validates a request for one shot of an earlier video, and prices it by the shot's length. */
export function prepareReshoot(dependencies: DramaDependencies, asked: AskedShot): PrepareTask<ReshootBody> {
  const { database, clock, catalog, ids } = dependencies;
  return async ({ body, caller, offered: { model, prices } }) => {
    const { accountId } = caller;
    requireStage(model, "video");
    const isHeard = body.callback_url !== undefined || caller.isConsole === true;
    if (!isHeard) await requireListener(database, accountId, clock.now());
    const earlier = await getFilmed(dependencies, { taskId: asked.taskId, accountId });
    const before = earlier.request as DramaRequest;
    const board = await getBoard(dependencies, earlier);
    const parts = await listParts(dependencies, earlier);
    const tried = Object.keys(findStep(earlier, "shots")?.taskIds ?? {});
    const shot = chooseShot(board, new Set([...Object.keys(parts.clips), ...tried]), asked.shotNumber);
    const clips = omitShot(parts.clips, shot, { isRedrawn: body.prompt !== undefined });
    const { prompt } = body;
    const changed = prompt === undefined ? shot : { ...shot, prompt: readPrompt(prompt), image_file_id: null };
    const shots = board.shots.map((each) => (each.id === shot.id ? changed : each));
    const needed = [...Object.values(clips), ...Object.values(parts.lines), ...listImages(shots)];
    await requireFiles(dependencies, accountId, needed);
    // Without a new prompt, the same seed would make the same clip.
    const known = takeLook({ style: before.style, seed: prompt === undefined ? undefined : before.seed });
    const { seed: _seed, style: _style, ...kept } = before;
    const request: DramaRequest = {
      ...kept,
      stage: "video",
      source: { kind: "document", document: { ...board, shots } },
      // The shot is all that was asked for, so without it there is nothing to deliver.
      isPartialAllowed: false,
      ...chooseLook(body, { known, model, catalog, ids }),
      reshoot: { fromTaskId: earlier.id, shotId: shot.id, clips, lines: parts.lines },
    };
    requireRoutes(catalog, model, request);
    const secondsMax = measureSeconds(shot, parts);
    return {
      request,
      inputs: [],
      steps: stepNames.map((name): StepRecord => ({ name, state: "queued", progress: 0, output: [], taskIds: {} })),
      terms: quoteDrama(prices, { stages: ["video"], secondsMax, budgetAmount: caller.budget?.amount ?? null }),
      outputCount: fileSlotCount,
      orderScope: "",
    };
  };
}

async function getBoard({ documents }: DramaDependencies, earlier: Task): Promise<StoryboardDocument> {
  const board = await findStoryboard(documents, earlier);
  if (board !== null) return board;
  throw new AppError("file_not_found", `The storyboard of ${earlier.id} has expired or was deleted.`, {
    param: "task_id",
  });
}

/** The clips and recordings of the earlier video, its own and those that it kept. */
async function listParts(
  { database }: DramaDependencies,
  earlier: Task,
): Promise<{ clips: KeptParts; lines: KeptParts }> {
  const asked = { accountId: earlier.accountId, parentId: earlier.id };
  const children = await listTasks(database, asked, { after: null, limit: childrenMax });
  const { reshoot } = earlier.request as DramaRequest;
  const ownOf = (name: StepName): KeptParts =>
    Object.fromEntries([...groupChildren(findStep(earlier, name), children)].flatMap(describePart));
  return {
    clips: { ...reshoot?.clips, ...ownOf("shots") },
    lines: { ...reshoot?.lines, ...ownOf("speech") },
  };
}

function describePart([purpose, { type, output }]: [string, Task]): [string, KeptPart][] {
  const [made] = output;
  if (made === undefined || type === "drama") return [];
  return [[purpose, { type, fileId: made.fileId, durationMs: made.durationMs }]];
}

/** A shot that failed can be made; one that the video had no time for cannot. */
function chooseShot({ shots }: StoryboardDocument, filmed: ReadonlySet<string>, shotNumber: number): Shot {
  const lastIndex = shots.findLastIndex((shot) => filmed.has(nameClip(shot)));
  const shot = shots[shotNumber - 1];
  if (shot !== undefined && shotNumber - 1 <= lastIndex) return shot;
  const message = `The video has no shot ${shotNumber}. Its shots are 1 to ${lastIndex + 1}.`;
  throw new AppError("not_found", message, { param: "shot_number" });
}

function omitShot(clips: KeptParts, shot: Shot, { isRedrawn }: { isRedrawn: boolean }): KeptParts {
  const omitted = isRedrawn ? [nameClip(shot), nameKeyframe(shot)] : [nameClip(shot)];
  return Object.fromEntries(Object.entries(clips).filter(([purpose]) => !omitted.includes(purpose)));
}

async function requireFiles(
  { files }: DramaDependencies,
  accountId: AccountId,
  parts: readonly Pick<KeptPart, "type" | "fileId">[],
): Promise<void> {
  for (const { type, fileId } of parts) {
    const kind = type === "speech" ? "audio" : type === "image" ? "image" : "video";
    await files.getFile(accountId, fileId, { param: "task_id", kinds: [kind] });
  }
}

/** The images that the shots start with; one of them becomes the poster. */
function listImages(shots: readonly Shot[]): Pick<KeptPart, "type" | "fileId">[] {
  return shots.flatMap(({ image_file_id: fileId }) =>
    fileId === null ? [] : [{ type: "image" as const, fileId: fileId as FileId }],
  );
}

function readPrompt(prompt: string): string {
  const trimmed = prompt.trim();
  if (trimmed === "") throw new AppError("invalid_parameter", "`prompt` must not be empty.", { param: "prompt" });
  return trimmed;
}

/** The shot's started seconds in the video: its avatar clip, its recorded lines, or its planned length. */
function measureSeconds(shot: Shot, { clips, lines }: { clips: KeptParts; lines: KeptParts }): number {
  const clip = clips[nameClip(shot)];
  if (clip?.type === "avatar" && clip.durationMs !== null) return countStartedSeconds(clip.durationMs);
  const timed = shot.lines.map(({ text }, index) => {
    const durationMs = lines[nameLine(shot, index)]?.durationMs ?? null;
    return { text, audioSeconds: durationMs === null ? null : durationMs / 1000 };
  });
  const { duration: seconds } = shot;
  const { shots } = planTimeline([{ clipSeconds: seconds, seconds, isVoiced: false, lines: timed }]);
  return countStartedSeconds(((shots[0]?.frameCount ?? 0) * 1000) / framesPerSecond);
}

function refuse(message: string): never {
  throw new AppError("shot_not_available", message, { param: "task_id" });
}

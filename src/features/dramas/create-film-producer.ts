import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { AccountId, FileId } from "../../lib/ids.ts";
import { createSemaphore } from "../../lib/semaphore.ts";
import type { Logger } from "../../platform/observability/logger.ts";
import { removeLeftovers } from "../../platform/storage/remove-leftovers.ts";
import type { Files } from "../files/index.ts";
import type { CompositeTask, OrchestrationContext, TaskOutput, TaskWarning } from "../tasks/index.ts";
import { beginStep, getFileId } from "./create-document-writer.ts";
import { describeFile } from "./document-storage.ts";
import type { DramaDependencies } from "./drama-dependencies.ts";
import type { Shot } from "./drama-documents.ts";
import { DramaFailure } from "./drama-failure.ts";
import type { DramaRequest } from "./drama-request.ts";
import { changeStep } from "./drama-step.ts";
import { warnOfLost, warnOfUndrawable } from "./drama-warnings.ts";
import { assembleFilm } from "./film/assemble-film.ts";
import { FilmError } from "./film/film-error.ts";
import type { FilmLine, FilmOrder, FilmShot, MadeFilm } from "./film/film-order.ts";
import { type Filming, hasClip, nameClip, nameKeyframe, nameLine } from "./film-shots.ts";

const reportEveryMs = 1_000;

export type ProduceFilm = (
  task: CompositeTask,
  options: { filming: Filming; context: OrchestrationContext },
) => Promise<{ task: CompositeTask; output: TaskOutput[]; warnings: TaskWarning[] }>;

/** Assembling a film occupies whole cores. */
const filmsAtOnceMax = 1;

/** Assembles a film from its material, and stores it with subtitles and poster. */
export function createFilmProducer({ logger, files, folder: root, failpoint }: DramaDependencies): ProduceFilm {
  const productions = createSemaphore(filmsAtOnceMax);

  async function produce(
    task: CompositeTask,
    { filming, context }: { filming: Filming; context: OrchestrationContext },
  ): ReturnType<ProduceFilm> {
    context.signal.throwIfAborted();
    await mkdir(root, { recursive: true, mode: 0o700 });
    await removeLeftovers(root);
    const folder = await mkdtemp(join(root, "film-"));
    try {
      const order = await collectMaterial(files, task, { filming, folder, signal: context.signal });
      const { made, task: reported } = await assembleWithProgress(task, order, context);
      failpoint("film-made");
      const output = await keepFilm(files, reported, made, context.signal);
      failpoint("film-kept");
      return { task: reported, output, warnings: [...warnOfLost(filming), ...warnOfUndrawable(made)] };
    } catch (error) {
      throw error instanceof FilmError ? explainFilm(logger, task, { error, filming }) : error;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  return async (given, options) => {
    const task = await beginStep(given, "film", options.context);
    return await productions.run(() => produce(task, options));
  };
}

/** An unusable clip is the provider's fault; any other failure is internal. */
function explainFilm(
  logger: Logger,
  { id }: CompositeTask,
  { error, filming }: { error: FilmError; filming: Filming },
): DramaFailure {
  const { shot, detail } = error;
  const level = shot === null ? "error" : "warn";
  logger[level]({ task_id: id, error, detail }, "video assembly failed");
  if (shot === null) {
    const message = "The video could not be assembled. Try again with `from_task_id`.";
    return new DramaFailure({ code: "internal_error", message, param: null, isRetryable: true });
  }
  const name = filming.board.shots.filter((each) => hasClip(each, filming))[shot]?.id ?? "A shot";
  const message = `${name}: The generated clip is unusable. Try again with \`from_task_id\`.`;
  return new DramaFailure({ code: "upstream_unavailable", message, param: null, isRetryable: true });
}

type Fetching = { accountId: AccountId; folder: string; signal: AbortSignal };

async function collectMaterial(
  files: Files,
  task: CompositeTask,
  { filming, folder, signal }: { filming: Filming; folder: string; signal: AbortSignal },
): Promise<FilmOrder> {
  const { title, episode, aspectRatio, subtitles = "burned" } = task.request as DramaRequest;
  const { board } = filming;
  const fetching = { accountId: task.accountId, folder, signal };
  const shots: FilmShot[] = [];
  for (const shot of board.shots) {
    const collected = await collectShot(files, shot, { filming, fetching });
    if (collected !== null) shots.push(collected);
  }
  const [keyframeId] = board.shots.flatMap((shot) => findKeyframe(shot, filming));
  const keyframe = keyframeId === undefined ? null : await fetchFile(files, keyframeId, "image", fetching);
  const imagePath = keyframe?.path ?? null;
  return { title, episode, language: board.language, aspectRatio, shots, subtitles, imagePath, folder };
}

/** The image that a shot starts with, if any. */
function findKeyframe(shot: Shot, { clips }: Filming): FileId[] {
  const drawn = shot.image_file_id ?? clips.get(nameKeyframe(shot))?.output[0]?.fileId;
  return drawn === undefined ? [] : [drawn as FileId];
}

/** `null` for a shot that failed, if partial films are allowed. */
async function collectShot(
  files: Files,
  shot: Shot,
  { filming, fetching }: { filming: Filming; fetching: Fetching },
): Promise<FilmShot | null> {
  const clip = filming.clips.get(nameClip(shot));
  const made = clip?.output[0];
  if (clip === undefined || made === undefined) return null;
  const { path: clipPath, contentType } = await fetchFile(files, made.fileId, "video", fetching);
  const lines: FilmLine[] = [];
  for (const [index, { speaker, text }] of shot.lines.entries()) {
    const audio = filming.lines.get(nameLine(shot, index))?.output[0];
    const fetched = audio === undefined ? null : await fetchFile(files, audio.fileId, "audio", fetching);
    lines.push({ speaker, text, audio: fetched });
  }
  return { clipPath, contentType, seconds: shot.duration, isVoiced: clip.type === "avatar", lines };
}

async function fetchFile(
  files: Files,
  fileId: FileId,
  kind: "image" | "audio" | "video",
  { accountId, folder, signal }: Fetching,
): Promise<{ path: string; contentType: string }> {
  const file = await files.getFile(accountId, fileId, { param: "from_task_id", kinds: [kind] });
  const path = join(folder, file.id);
  await pipeline(await files.openFile(file), createWriteStream(path, { mode: 0o600 }), { signal });
  return { path, contentType: file.contentType };
}

/** Writes progress while assembling. Losing the lease stops the assembly. */
async function assembleWithProgress(
  given: CompositeTask,
  order: FilmOrder,
  context: OrchestrationContext,
): Promise<{ made: MadeFilm; task: CompositeTask }> {
  let task = given;
  let percent = 0;
  let made: MadeFilm | null = null;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const assembling = assembleFilm(order, {
    signal,
    onProgress: (share) => {
      percent = Math.floor(Math.min(share, 95));
    },
  }).then((film) => {
    made = film;
  });
  try {
    for (let reported = 0; made === null; ) {
      const pause = new AbortController();
      await Promise.race([assembling, wait(reportEveryMs, null, { signal: pause.signal }).catch(() => {})]);
      pause.abort();
      if (made !== null || percent <= reported) continue;
      reported = percent;
      task = await context.move(task, changeStep(task, "film", { progress: reported }));
    }
    return { made, task };
  } finally {
    stop.abort(new Error("The video is no longer needed."));
    await assembling.catch(() => {});
  }
}

async function keepFilm(
  files: Files,
  task: CompositeTask,
  { filmPath, subtitlesPath, posterPath, width, height, durationMs }: MadeFilm,
  signal: AbortSignal,
): Promise<TaskOutput[]> {
  const { accountId } = task;
  const film = await files.keepOutput({
    id: getFileId(task, "film"),
    accountId,
    kind: "video",
    bytes: createReadStream(filmPath),
    media: { kind: "video", contentType: "video/mp4", width, height, durationMs },
    signal,
  });
  const subtitles = await files.keepDocument({
    id: getFileId(task, "subtitles"),
    accountId,
    contentType: "text/vtt",
    filename: "subtitles.vtt",
    bytes: await readFile(subtitlesPath),
    signal,
  });
  const poster = await files.keepOutput({
    id: getFileId(task, "poster"),
    accountId,
    kind: "image",
    bytes: createReadStream(posterPath),
    signal,
  });
  return [describeFile("video", film), describeFile("subtitles", subtitles), describeFile("image", poster)];
}

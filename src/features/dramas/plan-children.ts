import type { FileId } from "../../lib/ids.ts";
import type { AudioFormat, GenerationRequest } from "../../providers/generation.ts";
import type { OptionValues } from "../../providers/media-options.ts";
import type { Model } from "../catalog/index.ts";
import type { NewChild } from "../tasks/index.ts";
import { cut } from "./compose-script.ts";
import type { Line, Look, Role, Shot, StoryboardDocument } from "./drama-documents.ts";

/** A child task of a drama, before it has an id. */
export type PlannedChild = Omit<NewChild, "id">;

type Board = Pick<StoryboardDocument, "roles" | "narrator_voice" | "aspect_ratio"> & Look;

const promptCharactersUsual = 4000;
const noTextPrompt = "No captions, no text, no watermark.";

/** The image that a shot starts with. Reference images keep people looking the same in all shots. */
export function planKeyframe(shot: Shot, board: Board, model: Model): PlannedChild {
  const seen = listSeen(shot, board.roles);
  const countMax = model.capabilities.includes("image_to_image") ? (model.limits.max_input_images ?? 1) : 0;
  const shown = seen.filter((role) => role.reference_file_id !== null).slice(0, countMax);
  const { width, height } = chooseSize(model, board.aspect_ratio);
  return {
    model: model.id,
    request: {
      type: "image",
      prompt: describeShot(shot, seen, { shown, model, board }),
      ...{ width, height, count: 1, ...seedOptions(board, model) },
    },
    inputs: listReferences(shown),
  };
}

/** A shot's clip: starts from its image if there is one, with reference images if the model accepts more. */
export function planClip(
  shot: Shot,
  board: Board,
  { model, imageId, seconds }: { model: Model; imageId: FileId | null; seconds: number },
): PlannedChild {
  const seen = listSeen(shot, board.roles);
  const { limits, capabilities } = model;
  const startsFromImage = imageId !== null && capabilities.includes("image_to_video");
  const room = startsFromImage ? (limits.max_input_images ?? 1) - 1 : 0;
  const shown = seen.filter((role) => role.reference_file_id !== null).slice(0, room);
  return {
    model: model.id,
    request: {
      type: "video",
      prompt: describeShot(shot, seen, { shown, model, board, firstNumber: 2 }),
      durationSeconds: chooseDuration(limits.durations ?? [5], seconds),
      aspectRatio: chooseRatio(limits.aspect_ratios, board.aspect_ratio),
      ...seedOptions(board, model),
    },
    inputs: startsFromImage
      ? [{ role: "image", param: "input_images", fileId: imageId }, ...listReferences(shown)]
      : [],
  };
}

/** The speaker, saying the recorded line. */
export function planAvatar(
  board: Board,
  { model, imageId, audioId }: { model: Model; imageId: FileId; audioId: FileId },
): PlannedChild {
  return {
    model: model.id,
    request: {
      type: "avatar",
      aspectRatio: chooseRatio(model.limits.aspect_ratios, board.aspect_ratio),
      ...seedOptions(board, model),
    },
    inputs: [
      { role: "person", param: "avatar_file_id", fileId: imageId },
      { role: "audio", param: "audio_file_id", fileId: audioId },
    ],
  };
}

/** A line in its role's voice. */
export function planSpeech({ speaker, text }: Line, board: Board, model: Model): PlannedChild {
  const role = board.roles.find(({ name }) => name === speaker);
  const formats = (model.limits.response_formats ?? ["mp3"]) as AudioFormat[];
  const format = formats.includes("wav") ? "wav" : (formats.find((each) => each !== "pcm" && each !== "aac") ?? "mp3");
  const request: GenerationRequest = {
    type: "speech",
    text: cut(text, model.limits.max_prompt_length ?? promptCharactersUsual),
    voice: role?.voice ?? board.narrator_voice,
    format,
    speed: 1,
  };
  return { model: model.id, request, inputs: [] };
}

/** One seed for all shots, for models that offer it. */
function seedOptions({ seed }: Look, { limits }: Model): { options?: OptionValues } {
  return seed === undefined || limits.seed !== true ? {} : { options: { seed } };
}

function listSeen({ characters }: Shot, roles: readonly Role[]): Role[] {
  return characters.flatMap((name) => roles.find((role) => role.name === name) ?? []);
}

function listReferences(shown: readonly Role[]): NewChild["inputs"] {
  return shown.flatMap(({ reference_file_id: fileId }) =>
    fileId === null ? [] : [{ role: "image" as const, param: "characters", fileId: fileId as FileId }],
  );
}

type Showing = { shown: readonly Role[]; model: Model; board: Look; firstNumber?: number };

/**
 * The style comes first, the same words in every shot. The request for no text comes last and is never cut off; the
 * description is shortened instead.
 */
function describeShot({ camera, prompt }: Shot, seen: readonly Role[], showing: Showing): string {
  const { shown, model, board, firstNumber = 1 } = showing;
  const people = seen
    .filter(({ appearance }) => appearance !== "")
    .map(({ name, appearance }) => `${name}: ${appearance}`);
  const references = shown.map(({ name }, index) => `Reference ${firstNumber + index} shows ${name}.`);
  const charactersMax = model.limits.max_prompt_length ?? promptCharactersUsual;
  const all = [...references, noTextPrompt].join(" ");
  const suffix = all.length <= charactersMax ? all : noTextPrompt;
  const description = [board.style ?? "", camera, prompt, ...people]
    .filter((text) => text !== "")
    .map(endSentence)
    .join(" ");
  return cut(`${cut(description, Math.max(0, charactersMax - suffix.length - 1))} ${suffix}`.trim(), charactersMax);
}

function endSentence(text: string): string {
  return /[.!?。！？…]$/u.test(text) ? text : `${text}.`;
}

/** The shortest that suffices, or the longest. */
function chooseDuration(durations: readonly number[], seconds: number): number {
  const enough = durations.filter((duration) => duration >= seconds);
  return enough.length > 0 ? Math.min(...enough) : Math.max(...durations);
}

function chooseRatio(ratios: readonly string[] | undefined, wanted: string): string {
  if (ratios === undefined || ratios.includes(wanted)) return wanted;
  return chooseNearest(ratios, readRatio, readRatio(wanted)) ?? wanted;
}

const sizeUsual = "1024x1024";

function chooseSize({ limits }: Model, aspectRatio: string): { width: number; height: number } {
  const sizes = limits.sizes ?? [sizeUsual];
  const size = chooseNearest(sizes, readRatio, readRatio(aspectRatio)) ?? sizeUsual;
  const [width = 1024, height = 1024] = size.split("x").map(Number);
  return { width, height };
}

/** Parses `16:9` or `1536x1024`; anything else is a square. */
function readRatio(text: string): number {
  const [width = 1, height = 1] = text.split(/[x:]/).map(Number);
  const ratio = width / height;
  return Number.isFinite(ratio) && ratio > 0 ? ratio : 1;
}

/** Compares in log scale: twice as wide is as far as twice as high. The first of equals wins. */
function chooseNearest<T>(items: readonly T[], read: (item: T) => number, wanted: number): T | undefined {
  return items.toSorted((a, b) => distance(read(a), wanted) - distance(read(b), wanted))[0];
}

function distance(one: number, other: number): number {
  return Math.abs(Math.log(one / other));
}

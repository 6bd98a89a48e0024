import type { FileId } from "../../../lib/ids.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { findRawImageType } from "../../../platform/media/raw-image.ts";
import { checkPublicUrl } from "../../../platform/net/check-public-url.ts";
import type { AudioFormat, GenerationRequest } from "../../../providers/generation.ts";
import {
  listOptionNames,
  type MediaOptionName,
  type OptionValue,
  type OptionValues,
} from "../../../providers/media-options.ts";
import type { Capability, Model } from "../../catalog/index.ts";
import { countCharacters } from "../quote-task.ts";
import type { TaskInput } from "../task.ts";
import { findCapability } from "../task-target.ts";
import type { AvatarBody, CommonBody, ImageBody, SpeechBody, VideoBody } from "./generation-schema.ts";
import { checkImageOptions } from "./openai-image-options.ts";

/** A request that the model supports, as far as the request alone can show. */
export type CheckedGeneration = { request: GenerationRequest; inputs: TaskInput[]; capability: Capability };

const sizeUsual = "1024x1024";
const durationUsual = 5;
const aspectRatioUsual = "16:9";

export function checkImage(body: ImageBody, model: Model): CheckedGeneration {
  requireType(model, "image");
  checkPrompt(body.prompt, model);
  const { limits } = model;
  const format = checkImageOptions(body);
  const asked = body.size === "auto" ? undefined : (body.size ?? undefined);
  const size = choose("size", asked, limits.sizes ?? [sizeUsual]);
  const [width = 0, height = 0] = size.split("x").map(Number);
  const count = body.n ?? 1;
  const countMax = limits.max_n ?? 1;
  if (count > countMax) refuse("n", `\`n\` must be from 1 to ${countMax} for this model.`);
  const inputs = readInputImages(body.input_images, model);
  const request = { type: "image" as const, prompt: body.prompt, width, height, count, ...format };
  return finish(body, model, { request, inputs });
}

export function checkVideo(body: VideoBody, model: Model): CheckedGeneration {
  requireType(model, "video");
  if (body.prompt === undefined && body.input_images === undefined) {
    throw new AppError("missing_parameter", "A video needs a `prompt` or `input_images`, or both.", {
      param: "prompt",
    });
  }
  checkPrompt(body.prompt ?? "", model);
  const { limits } = model;
  const durationSeconds = choose("duration", body.duration, limits.durations ?? [durationUsual]);
  const aspectRatio = choose("aspect_ratio", body.aspect_ratio, limits.aspect_ratios ?? [aspectRatioUsual]);
  const inputs = [...readInputImages(body.input_images, model), ...readLastImage(body.last_image, model)];
  const request = { type: "video" as const, prompt: body.prompt ?? "", durationSeconds, aspectRatio };
  return finish(body, model, { request, inputs });
}

export function checkAvatar(body: AvatarBody, model: Model): CheckedGeneration {
  requireType(model, "avatar");
  const aspectRatio = choose("aspect_ratio", body.aspect_ratio, model.limits.aspect_ratios ?? [aspectRatioUsual]);
  const inputs: TaskInput[] = [
    { role: "person", param: "avatar_file_id", fileId: body.avatar_file_id as FileId },
    { role: "audio", param: "audio_file_id", fileId: body.audio_file_id as FileId },
  ];
  return finish(body, model, { request: { type: "avatar", aspectRatio }, inputs });
}

export function checkSpeech(body: SpeechBody, model: Model): CheckedGeneration {
  requireType(model, "speech");
  const { limits } = model;
  const charactersMax = limits.max_prompt_length;
  if (charactersMax !== undefined && countCharacters(body.input) > charactersMax) {
    throw new AppError("prompt_too_long", `\`input\` can have at most ${charactersMax} characters for this model.`, {
      param: "input",
    });
  }
  const voice = choose("voice", body.voice, limits.voices ?? [body.voice]);
  const formats = (limits.response_formats ?? ["mp3"]) as AudioFormat[];
  const format = choose("response_format", body.response_format, formats);
  const request = { type: "speech" as const, text: body.input, voice, format, speed: body.speed ?? 1 };
  return finish(body, model, { request, inputs: [] });
}

/** Adds the options, and the capability that the request needs. */
function finish(
  body: CommonBody,
  model: Model,
  { request, inputs }: Pick<CheckedGeneration, "request" | "inputs">,
): CheckedGeneration {
  const options = readOptions(body, model);
  const asked = Object.keys(options).length === 0 ? request : { ...request, options };
  const capability = findCapability(request, inputs);
  requireCapability(model, capability);
  return { request: asked, inputs, capability };
}

/** Values that ask for nothing, so a model that does not offer the option does not refuse them. */
const plainValues: Partial<Record<MediaOptionName, readonly OptionValue[]>> = {
  quality: ["auto", "standard"],
  style: ["vivid"],
  moderation: ["auto"],
  input_fidelity: ["low"],
  background: ["auto", "opaque"],
};

/** The requested options and the model's defaults. Throws if the model does not offer one. */
function readOptions(body: CommonBody, model: Model): OptionValues {
  const given: Readonly<Record<string, unknown>> = body;
  const type = model.type as GenerationRequest["type"];
  const read = listOptionNames(type).flatMap((name): [string, OptionValue][] => {
    const asked = (given[name] ?? undefined) as OptionValue | undefined;
    const offered = model.limits[name];
    if (offered === undefined) {
      if (asked === undefined || plainValues[name]?.includes(asked) === true) return [];
      return refuseOption(name, `${model.id} does not support \`${name}\`. Remove it.`);
    }
    if (offered === true) return asked === undefined ? [] : [[name, asked]];
    return [[name, choose<OptionValue>(name, asked === "auto" ? undefined : asked, offered)]];
  });
  return Object.fromEntries(read);
}

function refuseOption(param: string, message: string): never {
  throw new AppError("unsupported_capability", message, { param });
}

/** A task stores its output, and raw AAC is not among the formats of files. */
export function checkSpeechTask(body: SpeechBody, model: Model): CheckedGeneration {
  if (body.stream_format === "sse") refuse("stream_format", "A task has no stream. Remove `stream_format`.");
  if (body.response_format === "aac") refuse("response_format", "A task cannot store `aac`. Use another format.");
  return checkSpeech(body, model);
}

function requireType(model: Model, type: Model["type"]): void {
  if (model.type === type) return;
  const message = `${model.id} is a model for ${model.type}, not for ${type}. GET /models?type=${type} lists those.`;
  throw new AppError("unsupported_capability", message, { param: "model" });
}

function checkPrompt(prompt: string, { limits }: Model): void {
  const charactersMax = limits.max_prompt_length;
  if (charactersMax === undefined || countCharacters(prompt) <= charactersMax) return;
  throw new AppError("prompt_too_long", `\`prompt\` can have at most ${charactersMax} characters for this model.`, {
    param: "prompt",
  });
}

/** Returns the requested value if the model supports it, or the model's first. */
function choose<T extends OptionValue>(param: string, asked: T | undefined, allowed: readonly T[]): T {
  const [first] = allowed;
  if (asked === undefined && first !== undefined) return first;
  if (asked !== undefined && allowed.includes(asked)) return asked;
  return refuse(param, `\`${param}\` must be one of these for this model: ${allowed.join(", ")}.`);
}

function refuse(param: string, message: string): never {
  throw new AppError("invalid_parameter", message, { param });
}

/** Models of the other types have one capability. */
function requireCapability(model: Model, capability: Capability): void {
  const isChoice = model.type === "image" || model.type === "video";
  if (!isChoice || model.capabilities.includes(capability)) return;
  const isFromText = capability === "text_to_image" || capability === "text_to_video";
  const message = isFromText
    ? `${model.id} requires input images. Add \`input_images\`.`
    : `${model.id} does not accept input images. Remove \`input_images\`.`;
  throw new AppError("unsupported_capability", message, { param: "input_images" });
}

function readLastImage(image: string | undefined, model: Model): TaskInput[] {
  if (image === undefined) return [];
  if (model.limits.last_image !== true) {
    refuseOption("last_image", `${model.id} does not support \`last_image\`. Remove it.`);
  }
  return [{ ...readInputImage(image, "last_image"), role: "last-image" }];
}

function readInputImages(images: readonly string[] | undefined, { limits }: Model): TaskInput[] {
  if (images === undefined) return [];
  const countMax = limits.max_input_images ?? 1;
  if (images.length > countMax) refuse("input_images", `\`input_images\` can have at most ${countMax} for this model.`);
  return images.map((image, index) => readInputImage(image, `input_images[${index}]`));
}

/** Rejects a value that is neither a file id nor a public URL. What the URL points to is checked when it is fetched. */
function readInputImage(image: string, param: string): TaskInput {
  if (/^file_[0-9a-z]+$/.test(image)) return { role: "image", param, fileId: image as FileId };
  if (image.startsWith("data:") || findRawImageType(image) !== null) {
    const message = "This is the image itself. Upload it with `POST /v1/files` and send its `file_id`.";
    throw new AppError("invalid_url", message, { param });
  }
  const obstacle = checkPublicUrl(image, { allowsPrivate: false });
  if (obstacle !== null) {
    throw new AppError("invalid_url", `${obstacle} Send a public HTTPS URL or the id of an uploaded file.`, {
      param,
    });
  }
  return { role: "image", param, url: image };
}

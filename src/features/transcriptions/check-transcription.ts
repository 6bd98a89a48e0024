import { AppError } from "../../platform/errors/app-error.ts";
import type { TranscriptionRequest } from "../../providers/transcription.ts";
import type { Capability, Model } from "../catalog/index.ts";
import type { TranscriptFormat, TranscriptionFields } from "./transcription-schema.ts";

type Task = TranscriptionRequest["task"];

/** What is asked for, in a form that a provider takes, and how the answer is to look. */
export type CheckedTranscription = { request: TranscriptionRequest; format: TranscriptFormat; isStreamed: boolean };

export const capabilityByTask = { transcribe: "transcription", translate: "translation" } as const satisfies Record<
  Task,
  Capability
>;

/** What a model must be able to do for each form of the answer. */
const capabilityByFormat = {
  json: null,
  text: null,
  srt: "timestamps",
  vtt: "timestamps",
  verbose_json: "timestamps",
  diarized_json: "diarization",
} as const satisfies Record<TranscriptFormat, Capability | null>;

/** A request that the model can do, as far as that can be known without its file. */
export function checkTranscription(fields: TranscriptionFields, task: Task, model: Model): CheckedTranscription {
  const format = fields.response_format ?? "json";
  const isStreamed = fields.stream === true;
  requireCapability(model, capabilityByTask[task], `This model is not for ${capabilityByTask[task]}.`, "model");
  const needed = capabilityByFormat[format];
  if (needed !== null) {
    requireCapability(model, needed, `This model cannot answer with \`${format}\`.`, "response_format");
  }
  const charactersMax = model.limits.max_prompt_length;
  if (charactersMax !== undefined && [...(fields.prompt ?? "")].length > charactersMax) {
    throw new AppError("prompt_too_long", `\`prompt\` can have up to ${charactersMax} characters.`, {
      param: "prompt",
    });
  }
  checkCombination(fields, format);
  return {
    request: {
      task,
      language: fields.language ?? null,
      prompt: fields.prompt ?? null,
      temperature: fields.temperature ?? null,
      timestamps: needed === "timestamps" ? (fields.timestamp_granularities ?? ["segment"]) : [],
      isDiarized: format === "diarized_json",
      hasLogprobs: fields.include?.includes("logprobs") === true,
      chunking: fields.chunking_strategy ?? null,
    },
    format,
    isStreamed,
  };
}

/** What goes together with OpenAI's API. */
function checkCombination(fields: TranscriptionFields, format: TranscriptFormat): void {
  if (fields.timestamp_granularities !== undefined && format !== "verbose_json") {
    const message = "`timestamp_granularities` needs `response_format` to be `verbose_json`.";
    throw new AppError("invalid_parameter", message, { param: "timestamp_granularities" });
  }
  if (fields.include !== undefined && format !== "json") {
    throw new AppError("invalid_parameter", "`include` needs `response_format` to be `json`.", { param: "include" });
  }
  if (fields.stream === true && capabilityByFormat[format] === "timestamps") {
    const message = "With `stream`, `response_format` can be `json`, `text` or `diarized_json`.";
    throw new AppError("invalid_parameter", message, { param: "stream" });
  }
}

function requireCapability(model: Model, needed: Capability, message: string, param: string): void {
  if (!model.capabilities.includes(needed)) throw new AppError("unsupported_capability", message, { param });
}

/** What of a file can be refused before anybody looks into it. */
export function checkFileBytes({ limits }: Model, bytes: number): void {
  const bytesMax = limits.max_file_bytes;
  if (bytesMax === undefined || bytes <= bytesMax) return;
  const message = `The file is larger than the ${bytesMax} bytes that this model takes.`;
  throw new AppError("payload_too_large", message, { param: "file" });
}

export function checkDuration({ limits }: Model, durationMs: number): void {
  const secondsMax = limits.max_audio_seconds;
  if (secondsMax === undefined || durationMs <= secondsMax * 1000) return;
  const seconds = Math.ceil(durationMs / 1000);
  const message = `The recording has ${seconds} seconds; this model takes up to ${secondsMax}.`;
  throw new AppError("invalid_file", message, { param: "file" });
}

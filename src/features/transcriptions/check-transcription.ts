import { AppError } from "../../platform/errors/app-error.ts";
import type { TranscriptionRequest } from "../../providers/transcription.ts";
import type { Capability, Model } from "../catalog/index.ts";
import type { TranscriptFormat, TranscriptionFields } from "./transcription-schema.ts";

type Task = TranscriptionRequest["task"];

/** The request in the form of the provider contract, and the format of the answer. */
export type CheckedTranscription = { request: TranscriptionRequest; format: TranscriptFormat; isStreamed: boolean };

export const capabilityByTask = { transcribe: "transcription", translate: "translation" } as const satisfies Record<
  Task,
  Capability
>;

/** The capability that each `response_format` needs. */
const capabilityByFormat = {
  json: null,
  text: null,
  srt: "timestamps",
  vtt: "timestamps",
  verbose_json: "timestamps",
  diarized_json: "diarization",
} as const satisfies Record<TranscriptFormat, Capability | null>;

/** Checks the fields against the model. The file is checked separately. */
export function checkTranscription(fields: TranscriptionFields, task: Task, model: Model): CheckedTranscription {
  const format = fields.response_format ?? "json";
  const isStreamed = fields.stream === true;
  requireCapability(model, capabilityByTask[task], `This model does not support ${capabilityByTask[task]}.`, "model");
  const needed = capabilityByFormat[format];
  if (needed !== null) {
    requireCapability(model, needed, `This model does not support \`${format}\`.`, "response_format");
  }
  const charactersMax = model.limits.max_prompt_length;
  if (charactersMax !== undefined && [...(fields.prompt ?? "")].length > charactersMax) {
    throw new AppError("prompt_too_long", `\`prompt\` can have at most ${charactersMax} characters for this model.`, {
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

/** Rejects combinations of fields that OpenAI's API rejects. */
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

export function checkFileBytes({ limits }: Model, bytes: number): void {
  const bytesMax = limits.max_file_bytes;
  if (bytesMax === undefined || bytes <= bytesMax) return;
  const message = `The file has ${bytes} bytes. This model accepts at most ${bytesMax}.`;
  throw new AppError("payload_too_large", message, { param: "file" });
}

export function checkDuration({ limits }: Model, durationMs: number): void {
  const secondsMax = limits.max_audio_seconds;
  if (secondsMax === undefined || durationMs <= secondsMax * 1000) return;
  const seconds = Math.ceil(durationMs / 1000);
  const message = `The recording has ${seconds} seconds. This model accepts at most ${secondsMax}.`;
  throw new AppError("invalid_file", message, { param: "file" });
}

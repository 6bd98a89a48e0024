import type { GenerationRequest, MadeOutput } from "../generation.ts";
import { asRecord } from "../openai-compatible/json-value.ts";

type FalOutput = { type: MadeOutput["type"]; url: string };

/** The outputs and their URLs, and whether fal withheld some because of their content. */
export type FalOutputs = { outputs: readonly FalOutput[]; isWithheld: boolean };

const outputsMax = 64;

/** The fields that models put their outputs in, most common first. */
const fieldsByType = {
  image: ["images", "image"],
  video: ["video", "videos"],
  audio: ["audio", "audio_file"],
} as const satisfies Record<MadeOutput["type"], readonly string[]>;

/** Reads the result of a model. */
export function readFalOutputs(body: unknown, request: GenerationRequest): FalOutputs {
  const result = asRecord(body) ?? {};
  const type = chooseOutputType(request);
  const files = fieldsByType[type].map((field) => listFiles(result[field])).find(({ length }) => length > 0) ?? [];
  // fal returns a filtered image as plain black, and flags it.
  const flags: readonly unknown[] = Array.isArray(result.has_nsfw_concepts) ? result.has_nsfw_concepts : [];
  const shown = files.filter((_, index) => flags[index] !== true);
  const wanted = request.type === "image" ? request.count : 1;
  return {
    outputs: shown.slice(0, wanted).map((url) => ({ type, url })),
    isWithheld: shown.length < files.length,
  };
}

function chooseOutputType({ type }: GenerationRequest): MadeOutput["type"] {
  switch (type) {
    case "image":
      return "image";
    case "video":
    case "avatar":
      return "video";
    case "speech":
      return "audio";
  }
}

/** A file is an object with a `url`, or the URL itself; one or a list. */
function listFiles(value: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value.slice(0, outputsMax) : [value];
  return values.flatMap((item) => {
    const url = typeof item === "string" ? item : asRecord(item)?.url;
    return typeof url === "string" && url !== "" ? [url] : [];
  });
}

import type { ModelDetail } from "../../api/fetch-catalog.ts";
import { formatCount } from "../../parts/format/format-money.ts";

type LimitLine = { name: string; text: string };

/** Limits in words. For avatars and dramas a duration is the maximum. */
export function describeLimits({ type, limits }: Pick<ModelDetail, "type" | "limits">): LimitLine[] {
  const { durations, sizes, aspect_ratios: ratios, voices, response_formats: formats } = limits;
  const isMaximum = type === "avatar" || type === "drama";
  const count = (value: number | undefined, unit: string): string | null =>
    value === undefined ? null : `${formatCount(value)} ${unit}`;
  const lines: [name: string, text: string | null][] = [
    ["Context window", count(limits.context_window, "tokens")],
    ["Max output", count(limits.max_output_tokens, "tokens")],
    ["Inputs per call", limits.max_inputs === undefined ? null : `up to ${formatCount(limits.max_inputs)}`],
    ["Dimensions", limits.max_dimensions === undefined ? null : formatCount(limits.max_dimensions)],
    ["Max prompt length", count(limits.max_prompt_length, "characters")],
    ["Sizes", joinWords(sizes?.map((size) => size.replace("x", " × ")))],
    ["Aspect ratios", joinWords(ratios)],
    ["Images per request", limits.max_n === undefined ? null : `up to ${limits.max_n}`],
    ["Input images", limits.max_input_images === undefined ? null : `up to ${limits.max_input_images}`],
    [
      isMaximum ? "Max duration" : "Durations",
      durations === undefined ? null : `${(isMaximum ? [Math.max(...durations)] : durations).join(", ")} seconds`,
    ],
    ["Voices", joinWords(voices)],
    ["Formats", joinWords(formats)],
    ...listOptions(limits),
    ["Max recording", count(limits.max_audio_seconds, "seconds")],
    ["Max file size", count(limits.max_file_bytes, "bytes")],
  ];
  return lines.flatMap(([name, text]) => (text === null ? [] : [{ name, text }]));
}

function joinWords(words: readonly string[] | undefined): string | null {
  return words === undefined || words.length === 0 ? null : words.join(", ");
}

const optionNames = [
  "resolution",
  "quality",
  "style",
  "background",
  "frame_rate",
  "audio",
  "seed",
  "negative_prompt",
  "last_image",
  "prompt",
  "instructions",
] as const;

/** Options by their names in a request, with their values. */
function listOptions(limits: ModelDetail["limits"]): [name: string, text: string | null][] {
  return optionNames.map((name) => {
    const offered = limits[name];
    return [name, Array.isArray(offered) ? offered.join(", ") : offered === true ? "any" : null];
  });
}

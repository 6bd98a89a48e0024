import { findNearest } from "../../lib/nearest-word.ts";

/** Names that different APIs give to one field. Of those that an endpoint has, the first is suggested. */
const synonyms: readonly (readonly string[])[] = [
  ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_length", "num_predict"],
  ["messages", "input", "prompt", "contents", "text", "query", "question"],
  ["instructions", "system", "messages", "system_prompt", "system_instruction"],
  ["stop", "stop_sequences", "stop_words"],
  ["seed", "random_seed"],
  ["n", "num_images", "num_outputs", "number_of_images", "candidate_count"],
  ["model", "model_id", "model_name", "engine", "deployment"],
  ["response_format", "output_format", "format", "response_schema"],
  ["size", "resolution", "image_size"],
  ["voice", "voice_id", "voice_name"],
];

/** Longer than any field, so that a long name takes no time. */
const nameCharactersMax = 64;

/** The message for a field that an endpoint does not have, with the field that the caller probably meant. */
export function describeUnknownField(param: string, known: readonly string[], kind = "field"): string {
  const meant = findMeant(param.slice(param.lastIndexOf(".") + 1).slice(0, nameCharactersMax), known);
  const hint = meant === null ? "" : ` Did you mean \`${meant}\`?`;
  return `\`${param}\` is not a ${kind} of this endpoint.${hint}`;
}

function findMeant(name: string, known: readonly string[]): string | null {
  const same = known.find((field) => simplify(field) === simplify(name));
  if (same !== undefined) return same;
  for (const names of synonyms) {
    const synonym = names.includes(name) ? names.find((other) => known.includes(other)) : undefined;
    if (synonym !== undefined) return synonym;
  }
  return findNearest(name, known);
}

/** `maxTokens` and `max-tokens` become `maxtokens`. */
function simplify(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9]/g, "").toLowerCase();
}

import type { ChatAnswer } from "../../providers/contract.ts";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Fields that identify or place a part of an answer. All other strings are the model's text. */
const structuralKeys = new Set([
  "role",
  "type",
  "id",
  "call_id",
  "tool_use_id",
  "name",
  "status",
  "index",
  "finish_reason",
]);

/** Cuts a complete answer to a number of characters, as if the cap had ended it. */
export function cutAnswer(answer: ChatAnswer, charactersMax: number): ChatAnswer {
  const { nativeBody } = answer;
  const choices = (JSON.parse(answer.choices) as { [key: string]: Json }[]).map((choice) => ({
    ...choice,
    finish_reason: "length",
  }));
  const cut: ChatAnswer = { ...answer, choices: JSON.stringify(cutStrings(choices, { left: charactersMax })) };
  if (nativeBody === undefined) return cut;
  return { ...cut, nativeBody: cutNative(nativeBody as { [key: string]: Json }, { left: charactersMax }) };
}

/** Messages has `content`, Responses has `output`; each reports the cap in its own field. */
function cutNative(body: { [key: string]: Json }, budget: { left: number }): { [key: string]: Json } {
  if (body.content !== undefined) {
    return { ...body, content: cutStrings(body.content, budget), stop_reason: "max_tokens", stop_sequence: null };
  }
  const output = cutStrings(body.output ?? [], budget);
  return { ...body, output, status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
}

/** Walks in the order of writing, so that the start is kept. */
function cutStrings(value: Json, budget: { left: number }): Json {
  if (typeof value === "string") {
    const kept = value.slice(0, budget.left);
    budget.left -= kept.length;
    return kept;
  }
  if (Array.isArray(value)) return value.map((item) => cutStrings(item, budget));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      typeof item === "string" && structuralKeys.has(key) ? item : cutStrings(item, budget),
    ]),
  );
}

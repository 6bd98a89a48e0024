import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import type { ExchangeAnswer } from "../../platform/net/guarded-client.ts";
import { countInputs, type EmbeddingAnswer, type EmbeddingRequest } from "../embedding.ts";
import { checkLength, isVector, measureBase64Vector, readBase64Vector, writeVector } from "../write-vector.ts";
import { asRecord, parseJson } from "./json-value.ts";
import { createBadAnswer } from "./outlet.ts";
import { readMediaError } from "./read-media-error.ts";
import { createListSplitter } from "./split-list.ts";

type Reading = { request: EmbeddingRequest; bytesMax: number; clock: Clock };

/** After so many vectors, which take some milliseconds, others have their turn. */
const vectorsPerTurn = 16;
const vectorsMissing = "The answer has not one vector for each input.";

/** Reads an answer vector by vector, while it comes. What is in the form that was asked for is handed on as it is. */
export async function readEmbeddings(
  answer: ExchangeAnswer,
  { request, bytesMax, clock }: Reading,
): Promise<EmbeddingAnswer> {
  const count = countInputs(request.input);
  const vectors = new Array<string | undefined>(count).fill(undefined);
  const splitter = createListSplitter();
  let position = 0;
  for await (const chunk of answer.read({ bytesMax })) {
    for (const item of splitter.add(chunk)) {
      const { index, vector } = readItem(item.toString("utf8"), position, request);
      if (index >= count || vectors[index] !== undefined) throw createBadAnswer(vectorsMissing, { index, count });
      vectors[index] = vector;
      position += 1;
      if (position % vectorsPerTurn === 0) await nextTurn();
    }
  }
  const { status, headers } = answer;
  const envelope = asRecord(parseJson(splitter.envelope()));
  if (envelope === null) throw createBadAnswer("The answer is no JSON object.", { status });
  if (envelope.error !== undefined) throw readMediaError({ status, headers, body: envelope }, { clock });
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length < count) throw createBadAnswer(vectorsMissing, { came: position, count });
  return { vectors: whole, inputTokens: readTokens(envelope.usage) };
}

function readItem(
  text: string,
  position: number,
  { dimensions, encoding }: EmbeddingRequest,
): { index: number; vector: string } {
  const { index = position, embedding } = asRecord(parseJson(text)) ?? {};
  if (typeof index !== "number" || !Number.isInteger(index) || index < 0) throw createBadAnswer(vectorsMissing);
  if (typeof embedding === "string") {
    const length = measureBase64Vector(embedding);
    if (length === null) throw createBadAnswer("A vector of the answer is no base64 of numbers.");
    checkLength(length, dimensions);
    return {
      index,
      vector: encoding === "base64" ? `"${embedding}"` : writeVector(readBase64Vector(embedding), encoding),
    };
  }
  if (!isVector(embedding)) throw createBadAnswer("The answer has something in it that is no vector.");
  checkLength(embedding.length, dimensions);
  return { index, vector: encoding === "float" ? sliceList(text, embedding) : writeVector(embedding, encoding) };
}

/** The list as it was written, where it is the only one: to write thousands of numbers anew takes longer than all else. */
function sliceList(text: string, numbers: readonly number[]): string {
  const from = text.indexOf("[");
  const to = text.lastIndexOf("]");
  const isOnly = text.indexOf("[", from + 1) < 0 && text.indexOf("]") === to;
  return isOnly ? text.slice(from, to + 1) : writeVector(numbers, "float");
}

function readTokens(usage: unknown): number | null {
  const { prompt_tokens: prompt, total_tokens: total } = asRecord(usage) ?? {};
  const count = prompt ?? total;
  return typeof count === "number" && Number.isInteger(count) && count >= 0 ? count : null;
}

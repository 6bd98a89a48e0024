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

/** Yield to the event loop after this many vectors, which take some milliseconds. */
const vectorsPerTurn = 16;
const vectorsMissing = "The response does not have one vector for each input.";

/** Reads a response vector by vector, as it arrives. Vectors in the requested encoding are forwarded unchanged. */
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
  if (envelope === null) throw createBadAnswer("The response is not a JSON object.", { status });
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
    if (length === null) throw createBadAnswer("A vector in the response is not valid base64.");
    checkLength(length, dimensions);
    return {
      index,
      vector: encoding === "base64" ? `"${embedding}"` : writeVector(readBase64Vector(embedding), encoding),
    };
  }
  if (!isVector(embedding)) throw createBadAnswer("An item of the response is not a vector.");
  checkLength(embedding.length, dimensions);
  return { index, vector: encoding === "float" ? sliceList(text, embedding) : writeVector(embedding, encoding) };
}

/**
 * The list as received, if it is the only one: serializing thousands of numbers again takes longer than everything
 * else.
 */
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

import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { countInputs, type EmbeddingInput, type EmbeddingRequest } from "../../providers/embedding.ts";
import type { Model } from "../catalog/index.ts";
import type { EmbeddingBody } from "./embedding-schema.ts";

/** OpenAI's limit; a model may have a lower one. */
const inputsMax = 2048;
/** No tokenizer averages more characters per token, so a longer text cannot fit. */
const charactersPerTokenMax = 16;

/** Checks a request that its schema allows against the model. Throws if the model does not support it. */
export function readEmbeddingRequest(body: EmbeddingBody, model: Model): EmbeddingRequest {
  if (model.type !== "embedding") {
    reject("unsupported_capability", "model", `${model.id} is not an embedding model. Its type is ${model.type}.`);
  }
  const request = {
    input: readInput(body.input),
    dimensions: body.dimensions ?? null,
    encoding: body.encoding_format ?? "float",
    user: body.user ?? null,
  };
  checkDimensions(request.dimensions, model);
  checkInput(request.input, model);
  return request;
}

function reject(code: ErrorCode, param: string, message: string): never {
  throw new AppError(code, message, { param });
}

function readInput(input: EmbeddingBody["input"]): EmbeddingInput {
  if (typeof input === "string") return { kind: "texts", texts: [input] };
  // The schema allows only lists of one kind.
  const [first] = input;
  if (typeof first === "string") return { kind: "texts", texts: input as string[] };
  return { kind: "tokens", lists: typeof first === "number" ? [input as number[]] : (input as number[][]) };
}

function checkDimensions(dimensions: number | null, { id, capabilities, limits }: Model): void {
  if (dimensions === null) return;
  if (!capabilities.includes("dimensions")) {
    reject("unsupported_capability", "dimensions", `${id} does not support \`dimensions\`.`);
  }
  const { max_dimensions: max = dimensions } = limits;
  if (dimensions > max) reject("invalid_parameter", "dimensions", `${id} has at most ${max} dimensions.`);
}

function checkInput(input: EmbeddingInput, { id, limits }: Model): void {
  const { max_inputs: countMax = inputsMax, context_window: tokensMax } = limits;
  if (countInputs(input) > Math.min(countMax, inputsMax)) {
    reject("invalid_parameter", "input", `${id} accepts at most ${countMax} inputs per request.`);
  }
  if (tokensMax === undefined) return;
  const [items, lengthMax] =
    input.kind === "texts" ? [input.texts, tokensMax * charactersPerTokenMax] : [input.lists, tokensMax];
  const place = items.findIndex(({ length }) => length > lengthMax);
  if (place < 0) return;
  // Clients search for OpenAI's wording.
  const message = `This model's maximum context length is ${tokensMax} tokens, and input ${place} is longer.`;
  reject("context_length_exceeded", "input", message);
}

import { AppError } from "../../platform/errors/app-error.ts";
import type { ErrorCode } from "../../platform/errors/error-table.ts";
import { countInputs, type EmbeddingInput, type EmbeddingRequest } from "../../providers/embedding.ts";
import type { Model } from "../catalog/index.ts";
import type { EmbeddingBody } from "./embedding-schema.ts";

/** As many as OpenAI takes; a model may take fewer. */
const inputsMax = 2048;
/** Even the densest tokens have fewer characters than this on average, so what is longer cannot fit. */
const charactersPerTokenMax = 16;

/** What the schema has let pass, or the error that says what this model cannot do of it. */
export function readEmbeddingRequest(body: EmbeddingBody, model: Model): EmbeddingRequest {
  if (model.type !== "embedding") {
    refuse("unsupported_capability", "model", `${model.id} is no embedding model: its type is ${model.type}.`);
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

function refuse(code: ErrorCode, param: string, message: string): never {
  throw new AppError(code, message, { param });
}

function readInput(input: EmbeddingBody["input"]): EmbeddingInput {
  if (typeof input === "string") return { kind: "texts", texts: [input] };
  // The schema has seen that all items are of one kind.
  const [first] = input;
  if (typeof first === "string") return { kind: "texts", texts: input as string[] };
  return { kind: "tokens", lists: typeof first === "number" ? [input as number[]] : (input as number[][]) };
}

function checkDimensions(dimensions: number | null, { id, capabilities, limits }: Model): void {
  if (dimensions === null) return;
  if (!capabilities.includes("dimensions")) {
    refuse("unsupported_capability", "dimensions", `${id} does not have the capability dimensions.`);
  }
  const { max_dimensions: max = dimensions } = limits;
  if (dimensions > max) refuse("invalid_parameter", "dimensions", `${id} has at most ${max} dimensions.`);
}

function checkInput(input: EmbeddingInput, { id, limits }: Model): void {
  const { max_inputs: countMax = inputsMax, context_window: tokensMax } = limits;
  if (countInputs(input) > Math.min(countMax, inputsMax)) {
    refuse("invalid_parameter", "input", `${id} takes at most ${countMax} inputs at a time.`);
  }
  if (tokensMax === undefined) return;
  const [items, lengthMax] =
    input.kind === "texts" ? [input.texts, tokensMax * charactersPerTokenMax] : [input.lists, tokensMax];
  const place = items.findIndex(({ length }) => length > lengthMax);
  if (place < 0) return;
  // Worded so that clients who look for OpenAI's sentence find it.
  const message = `This model's maximum context length is ${tokensMax} tokens, and input ${place} is longer.`;
  refuse("context_length_exceeded", "input", message);
}

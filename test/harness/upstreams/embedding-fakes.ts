import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { canary } from "./canary.ts";
import type { Gate } from "./gate.ts";
import {
  demand,
  demandKnownFields,
  demandList,
  demandRange,
  demandRecord,
  demandText,
  VendorRefusal,
} from "./vendor-refusal.ts";

/** One valid request for vectors, as received. */
type EmbeddingAsk = { vendor: "openai" | "gemini"; fields: Record<string, unknown>; inputs: number };

type EmbeddingBehaviour = {
  /** An error instead of vectors. */
  status?: number;
  /** Answers with numbers, whatever encoding was requested. */
  isDeaf?: true;
  /** Reports this many tokens, or none. */
  tokens?: number | null;
  /** More vectors, or fewer, than inputs. */
  extraCount?: number;
  /** In reverse order. */
  isReversed?: true;
  /** Sent unchanged. */
  body?: string;
  /** The answer waits for it. */
  before?: Gate;
};

export type EmbeddingFakes = {
  asks: readonly EmbeddingAsk[];
  /** The next requests get these, in this order. */
  script(...behaviours: readonly EmbeddingBehaviour[]): void;
  scriptsLeft(): number;
};

type Serving = {
  takes(path: string): boolean;
  answer(incoming: IncomingMessage, response: ServerResponse): Promise<void>;
};

const openAiPath = "/openai/v1/embeddings";
const geminiPattern = /\/models\/[^/:]+:(embedContent|batchEmbedContents)$/;
const usualDimensions = 8;
const openAiFields = ["model", "input", "encoding_format", "dimensions", "user"];

/** Embeddings of OpenAI's API and of Google's, which validate requests as the vendors do. */
export function createEmbeddingFakes(): { fakes: EmbeddingFakes; serving: Serving } {
  const asks: EmbeddingAsk[] = [];
  const scripted: EmbeddingBehaviour[] = [];
  return {
    fakes: {
      asks,
      script: (...behaviours) => void scripted.push(...behaviours),
      scriptsLeft: () => scripted.length,
    },
    serving: {
      takes: (url) => pathOf(url) === openAiPath || geminiPattern.test(pathOf(url)),
      async answer(incoming, response) {
        const fields = demandRecord(JSON.parse((await buffer(incoming)).toString("utf8")), "body");
        const vendor = pathOf(incoming.url ?? "") === openAiPath ? "openai" : "gemini";
        const behaviour = scripted.shift() ?? {};
        const { status, body } = compose(vendor, fields, { behaviour, asks });
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        // The client may disconnect meanwhile.
        await behaviour.before?.pass(gone.signal).catch(() => {});
        const own = { server: canary, "x-request-id": `req_${canary}_v${asks.length}` };
        response.writeHead(status, { "content-type": "application/json", ...own }).end(body);
      },
    },
  };
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

function compose(
  vendor: EmbeddingAsk["vendor"],
  fields: Record<string, unknown>,
  { behaviour, asks }: { behaviour: EmbeddingBehaviour; asks: EmbeddingAsk[] },
): { status: number; body: string } {
  try {
    const made = vendor === "openai" ? answerOpenAi(fields, behaviour) : answerGemini(fields);
    asks.push({ vendor, fields, inputs: made.inputs });
    const { status = 200 } = behaviour;
    if (status !== 200) return { status, body: presentError(`${canary} refuses`) };
    return { status, body: behaviour.body ?? JSON.stringify(made.answer) };
  } catch (error) {
    if (!(error instanceof VendorRefusal)) throw error;
    return { status: error.status, body: presentError(error.message, error.param) };
  }
}

function presentError(message: string, param: string | null = null): string {
  return JSON.stringify({ error: { message, type: "invalid_request_error", param, code: null } });
}

function answerOpenAi(fields: Record<string, unknown>, behaviour: EmbeddingBehaviour) {
  demandKnownFields(fields, openAiFields);
  demandText(fields.model, "model");
  demandRange(fields.dimensions, "dimensions", [1, 3072]);
  const inputs = readInputs(fields.input);
  const { tokens = inputs.length * 3, extraCount = 0, isDeaf, isReversed } = behaviour;
  const dimensions = Number(fields.dimensions ?? usualDimensions);
  const isBase64 = fields.encoding_format === "base64" && isDeaf !== true;
  const data = [...inputs, ...inputs.slice(0, extraCount)].slice(0, inputs.length + extraCount).map((input, index) => {
    const vector = inventVector(JSON.stringify(input), dimensions);
    const embedding = isBase64 ? Buffer.from(Float32Array.from(vector).buffer).toString("base64") : vector;
    return { object: "embedding", index, embedding };
  });
  const usage = tokens === null ? undefined : { prompt_tokens: tokens, total_tokens: tokens };
  const answer = { object: "list", data: isReversed ? data.reverse() : data, model: canary, usage };
  return { inputs: inputs.length, answer };
}

function readInputs(input: unknown): readonly unknown[] {
  const list = demandList(Array.isArray(input) ? input : [input], "input");
  const inputs = typeof list[0] === "number" ? [list] : list;
  for (const [index, each] of inputs.entries()) {
    if (typeof each !== "string") demandList(each, `input[${index}]`);
    demand(each !== "", "input", "'$.input' is invalid.");
  }
  return inputs;
}

function answerGemini(fields: Record<string, unknown>) {
  const isBatch = fields.requests !== undefined;
  const requests = isBatch ? demandList(fields.requests, "requests") : [fields];
  demand(requests.length <= 100, "requests", "at most 100 requests can be in one batch");
  const embeddings = requests.map((each, index) => {
    const { content, outputDimensionality: dimensions = usualDimensions } = demandRecord(each, `requests[${index}]`);
    const { parts } = demandRecord(content, "content");
    return { values: inventVector(JSON.stringify(parts), Number(dimensions)) };
  });
  return { inputs: requests.length, answer: isBatch ? { embeddings } : { embedding: embeddings[0] } };
}

/** Numbers that 32 bits can represent, so that both encodings are equal. */
function inventVector(text: string, dimensions: number): number[] {
  const bytes = createHash("sha256").update(text).digest();
  return Array.from({ length: dimensions }, (_, index) => Math.fround((bytes[index % bytes.length] ?? 0) / 255 - 0.5));
}

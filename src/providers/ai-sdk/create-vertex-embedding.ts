import { APICallError, type EmbeddingModelV4 } from "@ai-sdk/provider";
import type { Fetch } from "../../platform/net/upstream-fetch.ts";
import { createGoogleTokens } from "../accounts/google-tokens.ts";
import { ProviderError } from "../contract.ts";
import type { EmbeddingProvider } from "../embedding.ts";
import { asRecord, parseJson } from "../openai-compatible/json-value.ts";
import { pickAll } from "../pick.ts";
import type { VendorOptions } from "./create-ai-sdk-chat.ts";
import { createAiSdkEmbedding } from "./create-ai-sdk-embedding.ts";

/** A call may have 20,000 tokens, a text 2,048. */
const textsPerCall = 9;

/** Google's embedding models on Vertex AI, with a service account. They are predictions there, unlike in the Gemini API. */
export function createVertexEmbedding(options: VendorOptions & { baseUrl: string }): EmbeddingProvider {
  const tokens = createGoogleTokens(options);
  const embedding = createAiSdkEmbedding(options.clock, async ({ upstreamModel, apiKey, fetch }) => {
    const headers = { ...options.headers, authorization: `Bearer ${await tokens.get(apiKey)}` };
    const url = `${options.baseUrl}/models/${encodeURIComponent(upstreamModel)}:predict`;
    return createModel(upstreamModel, { url, headers, fetch });
  });
  return {
    ...embedding,
    async close() {
      await embedding.close();
      await tokens.close();
    },
  };
}

type Place = { url: string; headers: Readonly<Record<string, string>>; fetch: Fetch };

function createModel(modelId: string, { url, headers, fetch }: Place): EmbeddingModelV4 {
  return {
    ...{ specificationVersion: "v4", provider: "google.vertex.embedding", modelId },
    // The newer models take one text.
    maxEmbeddingsPerCall: modelId.startsWith("gemini-") ? 1 : textsPerCall,
    supportsParallelCalls: false,
    async doEmbed({ values, dimensions, abortSignal }) {
      const asked = {
        instances: values.map((content) => ({ content })),
        // By default the platform cuts long texts without a word.
        parameters: { autoTruncate: false, ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }) },
      };
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(asked),
        ...(abortSignal === undefined ? {} : { signal: abortSignal }),
      });
      const responseBody = await response.text();
      if (!response.ok) throw createCallError(response, { url, asked, responseBody });
      return readPredictions(parseJson(responseBody));
    },
  };
}

function createCallError(
  response: Response,
  { url, asked, responseBody }: { url: string; asked: object; responseBody: string },
): APICallError {
  return new APICallError({
    ...{ message: "The prediction failed.", url, requestBodyValues: asked, statusCode: response.status },
    ...{ responseHeaders: Object.fromEntries(response.headers), responseBody },
  });
}

function readPredictions(body: unknown): Awaited<ReturnType<EmbeddingModelV4["doEmbed"]>> {
  const embeddings = pickAll(body, "predictions.*.embeddings").map(asRecord);
  const vectors = embeddings.map((one) => one?.values);
  if (!vectors.every((one) => Array.isArray(one))) {
    throw new ProviderError("bad-answer", "The response has a prediction without a vector.");
  }
  const counts = embeddings.map((one) => asRecord(one?.statistics)?.token_count);
  const isCounted = counts.every((count) => typeof count === "number");
  return {
    embeddings: vectors,
    warnings: [],
    ...(isCounted ? { usage: { tokens: counts.reduce((sum, count) => sum + count, 0) } } : {}),
  };
}

import type { EmbeddingCall, EmbeddingProvider } from "../embedding.ts";
import { countInputs } from "../embedding.ts";
import { type MediaRequest, readRefusal } from "../media-client.ts";
import { createOpenAiEndpoint, type OpenAiEndpoint, type OpenAiMediaOptions, presentTrace } from "./openai-endpoint.ts";
import { readEmbeddings } from "./read-embeddings.ts";
import { readMediaError } from "./read-media-error.ts";

/** The most bytes that a number takes as JSON, with its comma; base64 takes less. */
const numberBytesMax = 26;
/** Overhead of a vector. */
const bytesAround = 1024;
const answerBytesMax = 160 * 1024 * 1024;

/** Embeddings through OpenAI's API. */
export function createOpenAiEmbedding(options: OpenAiMediaOptions): EmbeddingProvider {
  const { unsupportedFields = [] } = options;
  const endpoint = createOpenAiEndpoint(options);
  return {
    findObstacle(request) {
      const asked = { dimensions: request.dimensions, user: request.user };
      const found = Object.entries(asked).find(([name, value]) => value !== null && unsupportedFields.includes(name));
      return found === undefined ? null : { param: found[0], message: `This model does not support \`${found[0]}\`.` };
    },
    async embed(call) {
      const { signal, request } = call;
      const answer = await endpoint.client.send(writeRequest(endpoint, call, unsupportedFields));
      if (answer.status >= 300) {
        const { status, headers } = answer;
        throw readMediaError({ status, headers, body: await readRefusal(answer, signal) }, endpoint);
      }
      return await readEmbeddings(answer, { request, bytesMax: countBytesMax(call), clock: endpoint.clock });
    },
    close: () => endpoint.client.close(),
  };
}

function writeRequest(
  endpoint: OpenAiEndpoint,
  call: EmbeddingCall,
  unsupportedFields: readonly string[],
): MediaRequest & { method: "POST" } {
  const { apiKey, timeoutMs, signal, upstreamModel, request, onHead } = call;
  const { input, dimensions, user, encoding } = request;
  return {
    method: "POST",
    path: endpoint.pathOf("embeddings", upstreamModel),
    headers: { "content-type": "application/json", accept: "application/json", ...presentTrace(call) },
    body: JSON.stringify({
      model: upstreamModel,
      input: input.kind === "texts" ? input.texts : input.lists,
      // A server that ignores the field returns numbers, which are converted here.
      ...(unsupportedFields.includes("encoding_format") ? {} : { encoding_format: encoding }),
      ...(dimensions === null ? {} : { dimensions }),
      ...(user === null ? {} : { user }),
    }),
    ...{ apiKey, timeoutMs, signal },
    ...(onHead === undefined ? {} : { onHead }),
  };
}

/** Bounded by the request, so that a small request cannot fill the memory. Numbers may arrive in any case. */
function countBytesMax({ request, dimensionsMax }: EmbeddingCall): number {
  const perVector = dimensionsMax * numberBytesMax + bytesAround;
  return Math.min(countInputs(request.input) * perVector + bytesAround * bytesAround, answerBytesMax);
}

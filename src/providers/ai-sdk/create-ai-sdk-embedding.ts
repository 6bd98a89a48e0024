import type { EmbeddingModelV4 } from "@ai-sdk/provider";
import type { Clock } from "../../lib/clock.ts";
import { createUpstreamFetch, type UpstreamFetch } from "../../platform/net/upstream-fetch.ts";
import { keepQuery } from "../base-url.ts";
import { ProviderError } from "../contract.ts";
import type { EmbeddingCall, EmbeddingProvider } from "../embedding.ts";
import { checkLength, isVector, writeVector } from "../write-vector.ts";
import { googleBaseUrl, listSettings, type VendorOptions } from "./create-ai-sdk-chat.ts";
import { genericDialect } from "./dialects.ts";
import { loadVendorEmbeddings, type PackagePlace } from "./load-package.ts";
import { type CreateModel, toProviderError, untilEnded } from "./start-ai-sdk-run.ts";

type CreateEmbeddingModel = CreateModel<EmbeddingModelV4>;

/** Packages parse all vectors of a call at once: 32 of 3,072 numbers take up to 50 ms. */
const textsPerCallMax = 32;
/** The same number of vectors with 12,288 numbers. */
const structureMax = 400_000;
const connectMsMax = 15_000;

/** An embedding upstream behind an AI SDK provider package. */
export function createAiSdkEmbedding(clock: Clock, createModel: CreateEmbeddingModel): EmbeddingProvider {
  const upstream = createUpstreamFetch({ structureMax });
  return {
    findObstacle: ({ input }) =>
      input.kind === "texts" ? null : { param: "input", message: "This model takes texts, not tokens." },
    async embed(call) {
      const { input, encoding } = call.request;
      if (input.kind === "tokens")
        throw new ProviderError("rejected", "This upstream takes texts, not tokens.", { param: "input" });
      const untilMs = clock.monotonicMs() + call.timeoutMs;
      const vectors: string[] = [];
      let inputTokens: number | null = 0;
      while (vectors.length < input.texts.length) {
        const rest = input.texts.slice(vectors.length);
        const timeoutMs = untilMs - clock.monotonicMs();
        if (timeoutMs <= 0) throw new ProviderError("timeout", "The embedding took too long.");
        const made = await embedSome({ clock, upstream, createModel }, { ...call, timeoutMs }, rest);
        vectors.push(...made.vectors.map((vector) => writeVector(vector, encoding)));
        inputTokens = inputTokens === null || made.tokens === null ? null : inputTokens + made.tokens;
      }
      return { vectors, inputTokens };
    },
    close: () => upstream.close(),
  };
}

type Embedding = { clock: Clock; upstream: UpstreamFetch; createModel: CreateEmbeddingModel };

/** The first texts, as many as the vendor accepts in one call. */
async function embedSome(
  { clock, upstream, createModel }: Embedding,
  { request: { dimensions }, upstreamModel, apiKey, timeoutMs, signal, onHead }: EmbeddingCall,
  texts: readonly string[],
): Promise<{ vectors: number[][]; tokens: number | null }> {
  signal.throwIfAborted();
  const timeouts = { connectMs: connectMsMax, firstByteMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs };
  const connection = upstream.openCall({ timeouts, onHead: (_status, headers) => onHead?.(headers) });
  const end = (): void => connection.end();
  signal.addEventListener("abort", end, { once: true });
  try {
    const model = await untilEnded(connection, createModel({ upstreamModel, apiKey, fetch: connection.fetch }));
    const countMax = Math.min((await model.maxEmbeddingsPerCall) ?? textsPerCallMax, textsPerCallMax);
    const values = texts.slice(0, Math.max(countMax, 1));
    const options = { values, abortSignal: connection.signal, ...(dimensions === null ? {} : { dimensions }) };
    const { embeddings: vectors, usage } = await untilEnded(connection, model.doEmbed(options));
    if (vectors.length !== values.length || !vectors.every(isVector)) {
      throw new ProviderError("bad-answer", "The response does not have one vector for each text.");
    }
    for (const vector of vectors) checkLength(vector.length, dimensions);
    return { vectors, tokens: usage !== undefined && Number.isInteger(usage.tokens) ? usage.tokens : null };
  } catch (error) {
    signal.throwIfAborted();
    throw toProviderError(error, connection, clock);
  } finally {
    signal.removeEventListener("abort", end);
    connection.end();
  }
}

/** Google's Gemini API. The package is loaded on the first call. */
export function createGoogleEmbedding(options: VendorOptions): EmbeddingProvider {
  const { baseUrl = googleBaseUrl, headers, clock } = options;
  return createAiSdkEmbedding(clock, async ({ upstreamModel, apiKey, fetch }) => {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle(listSettings(baseUrl, { headers, apiKey, fetch })).embeddingModel(upstreamModel);
  });
}

/** Any other AI SDK package, by name. If it is not installed, every call fails. */
export function createPackageEmbedding(options: VendorOptions & PackagePlace): EmbeddingProvider {
  const { packageName, packagesFolder, baseUrl, headers, clock } = options;
  return createAiSdkEmbedding(clock, async ({ upstreamModel, apiKey, fetch }) => {
    const createVendorModel = await loadVendorEmbeddings(
      { packageName, packagesFolder },
      {
        ...(baseUrl === undefined ? { fetch } : keepQuery(baseUrl, fetch)),
        ...{ name: genericDialect.optionsName, headers, apiKey: apiKey ?? "" },
      },
    );
    return createVendorModel(upstreamModel);
  });
}

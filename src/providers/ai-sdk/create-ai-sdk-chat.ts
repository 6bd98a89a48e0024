import { randomBytes } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import { createUpstreamFetch, type Fetch } from "../../platform/net/upstream-fetch.ts";
import { keepQuery } from "../base-url.ts";
import type { ChatProvider } from "../contract.ts";
import { anthropicDialect, type Dialect, genericDialect, googleDialect } from "./dialects.ts";
import type { FetchImage } from "./fetch-images.ts";
import { findObstacle } from "./find-obstacle.ts";
import { loadVendorModels, type PackagePlace, requirePackage } from "./load-package.ts";
import { type AiSdkRun, type CreateModel, startAiSdkRun } from "./start-ai-sdk-run.ts";
import { createThoughtSeal } from "./thought-seal.ts";

type VendorChatOptions = {
  /** Where the vendor's API begins, with its version; `undefined` for the vendor's own. */
  baseUrl: string | undefined;
  headers: Record<string, string>;
  fetchImage: FetchImage;
  clock: Clock;
  /**
   * With this, what vendors sign of their thoughts is hidden in the ids of tool calls; the same on all gateways. Without
   * it the key to the upstream is used, and a tool's result has to go to the same key that made the call.
   */
  sealSecret?: string;
  /** The most connections to the upstream. */
  connectionsMax?: number;
};

/** A chat upstream behind a provider package of the AI SDK. */
function createAiSdkChat(
  { fetchImage, clock, sealSecret, connectionsMax }: VendorChatOptions,
  dialect: Dialect,
  createModel: CreateModel,
): ChatProvider {
  const upstream = createUpstreamFetch(connectionsMax === undefined ? {} : { connectionsMax });
  const runs = new Set<AiSdkRun>();

  return {
    findObstacle: (request) => findObstacle(request, dialect),

    startChat(call, sink) {
      const seal = createThoughtSeal({ secret: sealSecret ?? call.apiKey ?? "", vendor: dialect.optionsName });
      const run = startAiSdkRun(call, sink, { dialect, createModel, fetchImage, clock, upstream, seal, createCallId });
      runs.add(run);
      const onEnded = (): unknown => runs.delete(run);
      run.ended.then(onEnded, onEnded);
      return run;
    },

    reportsStreamUsage: dialect.reportsStreamUsage,

    async close() {
      for (const run of runs) run.cancel();
      await upstream.close();
    },
  };
}

function createCallId(): string {
  return `call_${randomBytes(12).toString("hex")}`;
}

/**
 * Every setting is said, because the packages would otherwise look for it in the environment, where only our own
 * settings are read from.
 */
export function listSettings(
  baseUrl: string,
  { headers, apiKey, fetch }: { headers: Record<string, string>; apiKey: string | null; fetch: Fetch },
) {
  return { ...keepQuery(baseUrl, fetch), headers, apiKey: apiKey ?? "" };
}

export const anthropicUrl = "https://api.anthropic.com/v1";

/** Anthropic's Messages API. The package is loaded by the first call. */
export function createAnthropicChat(options: VendorChatOptions): ChatProvider {
  const { baseUrl = anthropicUrl, headers } = options;
  const createModel: CreateModel = async ({ upstreamModel, apiKey, fetch }) => {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic(listSettings(baseUrl, { headers, apiKey, fetch })).languageModel(upstreamModel);
  };
  return createAiSdkChat(options, anthropicDialect, createModel);
}

export const googleBaseUrl = "https://generativelanguage.googleapis.com/v1beta";

/** Google's Gemini API. The package is loaded by the first call. */
export function createGoogleChat(options: VendorChatOptions): ChatProvider {
  const { baseUrl = googleBaseUrl, headers } = options;
  const createModel: CreateModel = async ({ upstreamModel, apiKey, fetch }) => {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle(listSettings(baseUrl, { headers, apiKey, fetch })).languageModel(upstreamModel);
  };
  return createAiSdkChat(options, googleDialect, createModel);
}

/** Any other package of the AI SDK, by its name. Throws an `OperatorError` when it is not installed. */
export function createPackageChat(options: VendorChatOptions & PackagePlace): ChatProvider {
  const { packageName, packagesFolder, baseUrl, headers } = options;
  requirePackage({ packageName, packagesFolder });
  const createModel: CreateModel = async ({ upstreamModel, apiKey, fetch }) => {
    const createVendorModel = await loadVendorModels(
      { packageName, packagesFolder },
      {
        ...(baseUrl === undefined ? { fetch } : keepQuery(baseUrl, fetch)),
        name: genericDialect.optionsName,
        headers,
        apiKey: apiKey ?? "",
        // Packages for upstreams that imitate OpenAI's ask for these two only where they are told to.
        includeUsage: true,
        supportsStructuredOutputs: true,
      },
    );
    return createVendorModel(upstreamModel);
  };
  return createAiSdkChat(options, genericDialect, createModel);
}

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

/** The upstream of a vendor. */
export type VendorOptions = {
  /** The base URL of the API, with its version; `undefined` for the vendor's own. */
  baseUrl: string | undefined;
  headers: Record<string, string>;
  clock: Clock;
};

export type VendorChatOptions = VendorOptions & {
  fetchImage: FetchImage;
  /**
   * Encrypts signed reasoning in tool call ids; must be the same on all gateways. Without it the upstream's API key is
   * used, and a tool's result must go to the key that made the call.
   */
  sealSecret?: string;
  /** Maximum connections to the upstream. */
  connectionsMax?: number;
};

/** A chat upstream behind an AI SDK provider package. */
export function createAiSdkChat(
  { fetchImage, clock, sealSecret, connectionsMax }: VendorChatOptions,
  { dialect, isMediaSpliced }: { dialect: Dialect; isMediaSpliced: boolean },
  createModel: CreateModel,
): ChatProvider {
  const upstream = createUpstreamFetch(connectionsMax === undefined ? {} : { connectionsMax });
  const runs = new Set<AiSdkRun>();

  return {
    findObstacle: (request) => findObstacle(request, dialect),

    startChat(call, sink) {
      const seal = createThoughtSeal({ secret: sealSecret ?? call.apiKey ?? "", vendor: dialect.optionsName });
      const run = startAiSdkRun(call, sink, {
        ...{ dialect, isMediaSpliced, createModel, fetchImage, clock, upstream, seal, createCallId },
      });
      runs.add(run);
      const onEnded = (): unknown => runs.delete(run);
      run.ended.then(onEnded, onEnded);
      return run;
    },

    vendorFields: dialect.vendorFields,
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

/** Sets every option explicitly, because the packages would otherwise read them from the environment. */
export function listSettings(
  baseUrl: string,
  { headers, apiKey, fetch }: { headers: Record<string, string>; apiKey: string | null; fetch: Fetch },
) {
  return { ...keepQuery(baseUrl, fetch), headers, apiKey: apiKey ?? "" };
}

export const anthropicUrl = "https://api.anthropic.com/v1";

/** Anthropic's Messages API. The package is loaded on the first call. */
export function createAnthropicChat(options: VendorChatOptions): ChatProvider {
  const { baseUrl = anthropicUrl, headers } = options;
  const createModel: CreateModel = async ({ upstreamModel, apiKey, fetch }) => {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic(listSettings(baseUrl, { headers, apiKey, fetch })).languageModel(upstreamModel);
  };
  return createAiSdkChat(options, { dialect: anthropicDialect, isMediaSpliced: true }, createModel);
}

export const googleBaseUrl = "https://generativelanguage.googleapis.com/v1beta";

/** Google's Gemini API. The package is loaded on the first call. */
export function createGoogleChat(options: VendorChatOptions): ChatProvider {
  const { baseUrl = googleBaseUrl, headers } = options;
  const createModel: CreateModel = async ({ upstreamModel, apiKey, fetch }) => {
    const { createGoogle } = await import("@ai-sdk/google");
    return createGoogle(listSettings(baseUrl, { headers, apiKey, fetch })).languageModel(upstreamModel);
  };
  return createAiSdkChat(options, { dialect: googleDialect, isMediaSpliced: true }, createModel);
}

/** Packages that send media in JSON as they get it. Others may sign the body (Amazon's) or upload the media. */
const plainPackages: ReadonlySet<string> = new Set(["@ai-sdk/openai", "@ai-sdk/openai-compatible"]);

/** Any other AI SDK package, by name. Throws an `OperatorError` if it is not installed. */
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
        // Packages for OpenAI-compatible upstreams request these two only if told to.
        includeUsage: true,
        supportsStructuredOutputs: true,
      },
    );
    return createVendorModel(upstreamModel);
  };
  const isMediaSpliced = plainPackages.has(packageName);
  return createAiSdkChat(options, { dialect: genericDialect, isMediaSpliced }, createModel);
}

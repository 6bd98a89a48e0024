import type { AmazonBedrockProvider } from "@ai-sdk/amazon-bedrock";
import type { Fetch } from "../../platform/net/upstream-fetch.ts";
import { parseAwsCredentials } from "../accounts/aws-credentials.ts";
import { type ChatProvider, ProviderError } from "../contract.ts";
import type { EmbeddingProvider } from "../embedding.ts";
import { createAiSdkChat, type VendorChatOptions, type VendorOptions } from "./create-ai-sdk-chat.ts";
import { createAiSdkEmbedding } from "./create-ai-sdk-embedding.ts";
import { bedrockDialect } from "./dialects.ts";

type BedrockPlace = { baseUrl: string; region: string };

/** Amazon Bedrock. The package is loaded on the first call. */
export function createBedrockChat(options: VendorChatOptions & BedrockPlace): ChatProvider {
  return createAiSdkChat(
    options,
    // The package signs the body, so nothing may replace a part of it.
    { dialect: bedrockDialect, isMediaSpliced: false },
    async ({ upstreamModel, ...call }) => (await connect(options, call)).languageModel(upstreamModel),
  );
}

export function createBedrockEmbedding(options: VendorOptions & BedrockPlace): EmbeddingProvider {
  return createAiSdkEmbedding(options.clock, async ({ upstreamModel, ...call }) =>
    (await connect(options, call)).embeddingModel(upstreamModel),
  );
}

/** Sets every option: the package reads absent ones from AWS's environment variables, which may be of another account. */
async function connect(
  { baseUrl, region, headers }: Pick<VendorOptions, "headers"> & BedrockPlace,
  { apiKey, fetch }: { apiKey: string | null; fetch: Fetch },
): Promise<AmazonBedrockProvider> {
  const credentials = apiKey === null ? null : parseAwsCredentials(apiKey);
  if (credentials === null) throw new ProviderError("key-refused", "The provider has no AWS credentials.");
  const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
  const place = { baseURL: baseUrl.replace(/\/+$/, ""), region, headers, fetch };
  if (credentials.kind === "api-key") return createAmazonBedrock({ ...place, apiKey: credentials.apiKey });
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signing = { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
  // An empty API key is none, whatever the environment has.
  return createAmazonBedrock({ ...place, apiKey: "", credentialProvider: async () => signing });
}

import type { AmazonBedrockProvider } from "@ai-sdk/amazon-bedrock";
import type { Fetch } from "../../platform/net/upstream-fetch.ts";
import { type AwsAccess, type AwsAccount, createAwsAccess } from "../accounts/aws-access.ts";
import type { ChatProvider } from "../contract.ts";
import type { EmbeddingProvider } from "../embedding.ts";
import { createAiSdkChat, type VendorChatOptions, type VendorOptions } from "./create-ai-sdk-chat.ts";
import { createAiSdkEmbedding } from "./create-ai-sdk-embedding.ts";
import { bedrockDialect } from "./dialects.ts";

type BedrockPlace = { baseUrl: string; account: AwsAccount };

/** Amazon Bedrock. The package is loaded on the first call. */
export function createBedrockChat(options: VendorChatOptions & BedrockPlace): ChatProvider {
  const access = createAwsAccess(options);
  const chat = createAiSdkChat(
    options,
    // The package signs the body, so nothing may replace a part of it.
    { dialect: bedrockDialect, isMediaSpliced: false },
    async ({ upstreamModel, ...call }) => (await connect(options, access, call)).languageModel(upstreamModel),
  );
  return {
    ...chat,
    startChat: (call, sink) =>
      chat.startChat(call, {
        onHead: (headers) => sink.onHead?.(headers),
        onAccepted: () => sink.onAccepted(),
        onPieces: (pieces) => sink.onPieces(pieces),
        onEnd: (usage) => sink.onEnd(usage),
        onAnswer: (answer) => sink.onAnswer(answer),
        onError(error) {
          access.forgetRefused(error, call.apiKey);
          sink.onError(error);
        },
      }),
    close: () => closeBoth(chat, access),
  };
}

export function createBedrockEmbedding(options: VendorOptions & BedrockPlace): EmbeddingProvider {
  const access = createAwsAccess(options);
  const embedding = createAiSdkEmbedding(options.clock, async ({ upstreamModel, ...call }) =>
    (await connect(options, access, call)).embeddingModel(upstreamModel),
  );
  return {
    ...embedding,
    async embed(call) {
      try {
        return await embedding.embed(call);
      } catch (error) {
        access.forgetRefused(error, call.apiKey);
        throw error;
      }
    },
    close: () => closeBoth(embedding, access),
  };
}

async function closeBoth(provider: { close(): Promise<void> }, access: AwsAccess): Promise<void> {
  await provider.close();
  await access.close();
}

/** Sets every option: the package reads absent ones from AWS's environment variables, which may be of another account. */
async function connect(
  { baseUrl, account, headers }: Pick<VendorOptions, "headers"> & BedrockPlace,
  access: AwsAccess,
  { apiKey, fetch }: { apiKey: string | null; fetch: Fetch },
): Promise<AmazonBedrockProvider> {
  const credentials = await access.get(apiKey);
  const { createAmazonBedrock } = await import("@ai-sdk/amazon-bedrock");
  const place = { baseURL: baseUrl.replace(/\/+$/, ""), region: account.region, headers, fetch };
  if (credentials.kind === "api-key") return createAmazonBedrock({ ...place, apiKey: credentials.apiKey });
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signing = { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) };
  // An empty API key is none, whatever the environment has.
  return createAmazonBedrock({ ...place, apiKey: "", credentialProvider: async () => signing });
}

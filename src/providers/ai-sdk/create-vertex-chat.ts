import { randomUUID } from "node:crypto";
import { createGoogleTokens } from "../accounts/google-tokens.ts";
import type { ChatProvider } from "../contract.ts";
import { createAiSdkChat, type VendorChatOptions } from "./create-ai-sdk-chat.ts";
import { anthropicDialect, vertexGoogleDialect } from "./dialects.ts";
import type { CreateModel } from "./start-ai-sdk-run.ts";

type VertexPlace = { baseUrl: string; publisher: "google" | "anthropic" };

/** The version of the Messages API that the platform names in the body. */
const messagesVersion = "vertex-2023-10-16";

/** Gemini or Claude on Vertex AI, with a service account. The package is loaded on the first call. */
export function createVertexChat(options: VendorChatOptions & VertexPlace): ChatProvider {
  const tokens = createGoogleTokens(options);
  const { baseUrl, headers, publisher } = options;

  async function prepare(apiKey: string | null) {
    return { baseURL: baseUrl, headers: { ...headers, authorization: `Bearer ${await tokens.get(apiKey)}` } };
  }

  const createGemini: CreateModel = async ({ upstreamModel, apiKey, fetch }) => {
    const { GoogleLanguageModel } = await import("@ai-sdk/google/internal");
    const settings = { ...(await prepare(apiKey)), fetch, generateId: randomUUID };
    return new GoogleLanguageModel(upstreamModel, { ...settings, provider: "google.vertex.chat" });
  };

  const createClaude: CreateModel = async ({ upstreamModel, apiKey, fetch }) => {
    const { AnthropicMessagesLanguageModel } = await import("@ai-sdk/anthropic/internal");
    return new AnthropicMessagesLanguageModel(upstreamModel, {
      ...(await prepare(apiKey)),
      ...{ provider: "anthropic.messages", fetch },
      // The platform refuses both fields.
      ...{ supportsNativeStructuredOutput: false, supportsStrictTools: false },
      buildRequestUrl: (base, isStreamed) =>
        `${base}/models/${encodeURIComponent(upstreamModel)}:${isStreamed ? "streamRawPredict" : "rawPredict"}`,
      // The path has the model.
      transformRequestBody: ({ model: _, ...body }) => ({ ...body, anthropic_version: messagesVersion }),
    });
  };

  const chat =
    publisher === "google"
      ? createAiSdkChat(options, { dialect: vertexGoogleDialect, isMediaSpliced: true }, createGemini)
      : createAiSdkChat(options, { dialect: anthropicDialect, isMediaSpliced: true }, createClaude);
  return {
    ...chat,
    async close() {
      await chat.close();
      await tokens.close();
    },
  };
}

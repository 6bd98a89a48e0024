import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import * as ai from "ai";
import * as ai5 from "ai-5";
import * as ai6 from "ai-6";
import { createAnthropic as createAnthropic2 } from "ai-sdk-anthropic-2";
import { createAnthropic as createAnthropic3 } from "ai-sdk-anthropic-3";
import { createOpenAICompatible as createCompatible1 } from "ai-sdk-openai-compatible-1";
import { createOpenAICompatible as createCompatible2 } from "ai-sdk-openai-compatible-2";

/** A major version of the AI SDK with its providers, typed as the latest: the tests use what all of them have. */
export type AiSdkMajor = {
  major: number;
  ai: Pick<typeof ai, "generateText" | "streamText" | "generateImage" | "tool" | "jsonSchema">;
  createAnthropic: typeof createAnthropic;
  createOpenAICompatible: typeof createOpenAICompatible;
};

export const aiSdkMajors: readonly AiSdkMajor[] = [
  {
    major: 5,
    ai: { ...ai5, generateImage: ai5.experimental_generateImage } as unknown as AiSdkMajor["ai"],
    createAnthropic: createAnthropic2 as unknown as typeof createAnthropic,
    createOpenAICompatible: createCompatible1 as unknown as typeof createOpenAICompatible,
  },
  {
    major: 6,
    ai: ai6 as unknown as AiSdkMajor["ai"],
    createAnthropic: createAnthropic3 as unknown as typeof createAnthropic,
    createOpenAICompatible: createCompatible2 as unknown as typeof createOpenAICompatible,
  },
  { major: 7, ai, createAnthropic, createOpenAICompatible },
];

import { expect, test } from "vitest";
import { countMessageTokens } from "./count-message-tokens.ts";

/**
 * Anthropic's own figures, from the examples on https://platform.claude.com/docs/en/build-with-claude/token-counting:
 * all that it publishes for known texts. The overheads were derived from them, so this only tests that they are
 * applied.
 */
const weatherTool = {
  name: "get_weather",
  description: "Get the current weather in a given location",
  input_schema: {
    type: "object",
    properties: { location: { type: "string", description: "The city and state, e.g. San Francisco, CA" } },
    required: ["location"],
  },
};

test.each<[name: string, body: object, tokens: number]>([
  ["a message", { system: "You are a scientist", messages: [{ role: "user", content: "Hello, Claude" }] }, 14],
  [
    "a message with a tool",
    { tools: [weatherTool], messages: [{ role: "user", content: "What's the weather like in San Francisco?" }] },
    403,
  ],
  [
    "a conversation with thinking",
    {
      thinking: { type: "enabled", budget_tokens: 16_000 },
      messages: [
        { role: "user", content: "Are there an infinite number of prime numbers such that n mod 4 == 3?" },
        {
          role: "assistant",
          content: [
            {
              type: "thinking",
              thinking: "This is a nice number theory question. Let's think about it step by step...",
              signature: "EuYBCkQYAiJAgCs1le6/Pol5Z4/JMomVOouGrWdhYNsH3ukzUECbB6iWrSQtsQuRHJID6lWV",
            },
            { type: "text", text: "Yes, there are infinitely many prime numbers p such that p mod 4 = 3..." },
          ],
        },
        { role: "user", content: "Can you write a formal proof?" },
      ],
    },
    88,
  ],
])("%s is counted within 5% of the vendor's figure", (_name, body, tokens) => {
  const counted = countMessageTokens({ model: "m", ...body });
  expect(Math.abs(counted - tokens) / tokens).toBeLessThanOrEqual(0.05);
});

/** Headers of images of 300 by 250 pixels. */
const heads = {
  png: "89504e470d0a1a0a0000000d494844520000012c000000fa0802000000",
  gif: "4749463839612c01fa00800000",
  // An application segment, then the frame.
  jpeg: "ffd8ffe000104a46494600010100000100010000ffc000110800fa012c03012200",
};

test.each(Object.entries(heads))("an image (%s) is counted by its pixels", (format, head) => {
  const source = { type: "base64", media_type: `image/${format}`, data: Buffer.from(head, "hex").toString("base64") };
  const body = { model: "m", messages: [{ role: "user", content: [{ type: "image", source }] }] };
  expect(countMessageTokens(body)).toBe(5 + 100);
});

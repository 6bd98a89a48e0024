import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import { countItems } from "./count-items.ts";
import { describeItems } from "./describe-items.ts";

const rate = nano(1n);

test.each([
  ["1,200 input tokens, 1 output token", { input_tokens: 1200, cached_input_tokens: 0, output_tokens: 1 }],
  ["1 input token (counted), 7 output tokens (counted)", { counted_input_tokens: 1, counted_output_tokens: 7 }],
  [
    "7 cache write tokens (5 minutes), 1 cache write token (1 hour), 2 audio input tokens",
    { input_tokens: 0, cache_write_5m_tokens: 7, cache_write_1h_tokens: 1, audio_input_tokens: 2 },
  ],
  ["3 reasoning tokens, 1 audio output token", { output_tokens: 0, reasoning_tokens: 3, audio_output_tokens: 1 }],
  ["1 image", { images: 1 }],
  ["6 seconds", { seconds: 6 }],
  ["script: 1 call, video: 30 seconds", { script_calls: 1, video_seconds: 30 }],
  ["video: minimum charge", { video_minimum: 1 }],
  ["nothing", { output_tokens: 0 }],
])("a bill is summarized as %s", (text, quantities) => {
  const items = Object.entries(quantities).map(([name, quantity]) => ({ name, quantity: BigInt(quantity), rate }));
  expect(describeItems(items)).toBe(text);
});

test("input includes cached tokens, and seconds include every stage's", () => {
  const items = [
    { name: "input_tokens", quantity: 10n },
    { name: "counted_input_tokens", quantity: 100n },
    { name: "cached_input_tokens", quantity: 5n },
    { name: "cache_write_5m_tokens", quantity: 1000n },
    { name: "cache_write_1h_tokens", quantity: 2000n },
    { name: "audio_input_tokens", quantity: 4000n },
    { name: "reasoning_tokens", quantity: 500n },
    { name: "audio_output_tokens", quantity: 200n },
    { name: "output_tokens", quantity: 3n },
    { name: "counted_output_tokens", quantity: 30n },
    { name: "images", quantity: 2n },
    { name: "characters", quantity: 9n },
    { name: "seconds", quantity: 4n },
    { name: "video_seconds", quantity: 40n },
    { name: "script_calls", quantity: 1n },
    { name: "roles_minimum", quantity: 1n },
  ];
  expect(countItems(items)).toEqual({
    inputTokens: 7115n,
    cachedInputTokens: 5n,
    outputTokens: 733n,
    images: 2n,
    characters: 9n,
    seconds: 44n,
  });
});

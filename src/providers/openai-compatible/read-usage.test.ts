import fc from "fast-check";
import { expect, test } from "vitest";
import { uncountableUsage } from "../contract.ts";
import { readReportedUsage, readUsage } from "./read-usage.ts";

const nothing = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  reasoningTokens: 0,
  inputAudioTokens: 0,
  outputAudioTokens: 0,
};

test("usage is parsed with all its details", () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 30, audio_tokens: 20, text_tokens: 80 },
    completion_tokens_details: { reasoning_tokens: 10, audio_tokens: 5 },
  };
  expect(readUsage(usage)).toEqual({
    inputTokens: 100,
    outputTokens: 50,
    cachedInputTokens: 40,
    cacheWriteTokens: 30,
    cacheWrite1hTokens: 0,
    reasoningTokens: 10,
    inputAudioTokens: 20,
    outputAudioTokens: 5,
  });
});

test.each([
  ["prompt_cache_hit_tokens", { prompt_cache_hit_tokens: 3 }],
  ["cached_tokens", { cached_tokens: 3 }],
  ["num_cached_tokens", { num_cached_tokens: 3 }],
])("cached input is also found under %s", (_name, more) => {
  expect(readUsage({ prompt_tokens: 5, completion_tokens: 0, ...more })?.cachedInputTokens).toBe(3);
});

test("reasoning counted in addition to the output is output", () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 30 } };
  expect(readUsage({ ...usage, total_tokens: 37 })).toMatchObject({ outputTokens: 32, reasoningTokens: 30 });
  expect(readUsage({ ...usage, total_tokens: 7 })).toMatchObject({ outputTokens: 2, reasoningTokens: 2 });
});

test.each([null, undefined, "12", [], {}, { prompt_tokens: 1 }])(
  "anything else counts as not reported: %j",
  (usage) => {
    expect(readUsage(usage)).toBeNull();
  },
);

test.each([
  { prompt_tokens: -1, completion_tokens: 1 },
  { prompt_tokens: 1, completion_tokens: 1.5 },
  { prompt_tokens: "1", completion_tokens: 1 },
  { prompt_tokens: 1, completion_tokens: 1_000_000_001 },
])("impossible usage is distinct from none: %j", (usage) => {
  expect(readUsage(usage)).toBe(uncountableUsage);
});

test("Groq reports the usage of a stream in x_groq", () => {
  const usage = { queue_time: 0.04, prompt_tokens: 17, prompt_time: 0.001, completion_tokens: 9, total_tokens: 26 };
  expect(readReportedUsage({ x_groq: { id: "req_01", usage } })).toMatchObject({ inputTokens: 17, outputTokens: 9 });
  expect(readReportedUsage({ x_groq: { id: "req_01" } })).toBeNull();
});

test("cache writes cannot also be cache reads", () => {
  const details = { cached_tokens: 8, cache_write_tokens: 5 };
  const usage = readUsage({ prompt_tokens: 10, completion_tokens: 0, prompt_tokens_details: details });
  expect(usage).toMatchObject({ cachedInputTokens: 8, cacheWriteTokens: 2 });
});

test("usage of zero is accepted", () => {
  expect(readUsage({ prompt_tokens: 0, completion_tokens: 0, prompt_tokens_details: null })).toEqual(nothing);
});

test("whatever is reported, the details are parts of the total", () => {
  const some = fc.oneof(fc.integer({ min: -10, max: 2_000_000_000 }), fc.double(), fc.string(), fc.constant(null));
  const details = fc.record({
    cached_tokens: some,
    cache_write_tokens: some,
    audio_tokens: some,
    reasoning_tokens: some,
  });
  const reported = fc.record({
    prompt_tokens: some,
    completion_tokens: some,
    total_tokens: some,
    prompt_tokens_details: details,
    completion_tokens_details: details,
  });
  fc.assert(
    fc.property(reported, (value) => {
      const usage = readUsage(value);
      if (usage === null || usage === uncountableUsage) return;
      for (const count of Object.values(usage)) expect(Number.isInteger(count) && count >= 0).toBe(true);
      expect(usage.cachedInputTokens + usage.cacheWriteTokens).toBeLessThanOrEqual(usage.inputTokens);
      expect(usage.inputAudioTokens).toBeLessThanOrEqual(usage.inputTokens);
      expect(Math.max(usage.reasoningTokens, usage.outputAudioTokens)).toBeLessThanOrEqual(usage.outputTokens);
    }),
  );
});

import { expect, test } from "vitest";
import { describeLimits } from "./describe-limits.ts";

test("limits have units, and absent ones are left out", () => {
  expect(describeLimits({ type: "chat", limits: { context_window: 128_000 } })).toEqual([
    { name: "Context window", text: "128,000 tokens" },
  ]);
  expect(describeLimits({ type: "image", limits: { sizes: ["1024x1536"], max_n: 4, voices: [] } })).toEqual([
    { name: "Sizes", text: "1024 × 1536" },
    { name: "Images per request", text: "up to 4" },
  ]);
});

test("durations are a choice for videos, and a maximum for dramas and avatars", () => {
  const limits = { durations: [5, 10] };
  expect(describeLimits({ type: "video", limits })).toEqual([{ name: "Durations", text: "5, 10 seconds" }]);
  expect(describeLimits({ type: "drama", limits })).toEqual([{ name: "Max duration", text: "10 seconds" }]);
  expect(describeLimits({ type: "avatar", limits })).toEqual([{ name: "Max duration", text: "10 seconds" }]);
});

test("options have their values, or any", () => {
  expect(
    describeLimits({ type: "video", limits: { resolution: ["720p", "1080p"], audio: [true], seed: true } }),
  ).toEqual([
    { name: "resolution", text: "720p, 1080p" },
    { name: "audio", text: "true" },
    { name: "seed", text: "any" },
  ]);
});

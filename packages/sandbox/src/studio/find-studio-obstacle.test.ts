import { expect, test } from "vitest";
import type { GenerationRequest } from "../../../../src/providers/generation.ts";
import { findStudioObstacle } from "./find-studio-obstacle.ts";

const image = { type: "image", prompt: "", width: 512, height: 512, count: 1 } as const;
const video = { type: "video", prompt: "", durationSeconds: 5, aspectRatio: "16:9" } as const;
const speech = { type: "speech", text: "Hello", voice: "nova", format: "mp3", speed: 1 } as const;

test.each<[string, GenerationRequest]>([
  ["size", { ...image, width: 8 }],
  ["size", { ...image, height: 5000 }],
  ["size", { ...image, height: 10.5 }],
  ["size", { ...image, width: Number.NaN }],
  ["n", { ...image, count: 11 }],
  ["n", { ...image, count: 0 }],
  ["duration", { ...video, durationSeconds: 61 }],
  ["duration", { ...video, durationSeconds: 0 }],
  ["aspect_ratio", { ...video, aspectRatio: "9:1" }],
  ["aspect_ratio", { type: "avatar", aspectRatio: "x" }],
  ["voice", { ...speech, voice: "toString" }],
  ["speed", { ...speech, speed: 0.2 }],
  ["speed", { ...speech, speed: 4.1 }],
  ["input", { ...speech, text: "a".repeat(20_001) }],
])("%s is the unsupported field", (param, request) => {
  expect(findStudioObstacle(request, { inputs: [] })?.param).toBe(param);
});

test.each<GenerationRequest>([
  image,
  video,
  { ...video, aspectRatio: "5:4" },
  { type: "avatar", aspectRatio: "9:16" },
  speech,
  { ...speech, speed: 4 },
])("%j can be made", (request) => {
  expect(findStudioObstacle(request, { inputs: [] })).toBeNull();
});

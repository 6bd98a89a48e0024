import { expect, test } from "vitest";
import type { GenerationRequest } from "./generation.ts";
import type { FieldRule, RouteTerms } from "./route-terms.ts";
import { findFieldObstacle, findParam, listValues, writeFields } from "./write-media-fields.ts";

const film = { type: "video", prompt: "Waves", durationSeconds: 5, aspectRatio: "16:9" } as const;
const picture = { type: "image", prompt: "A barn", width: 64, height: 96, count: 1 } as const;

function write(request: GenerationRequest, rules: Record<string, FieldRule>, route: RouteTerms = {}, images = 0) {
  const inputs = Array.from({ length: images }, (_, index) => ({
    ...{ role: "image" as const, contentType: "image/png", address: `https://x/${index}` },
  }));
  return writeFields(listValues(request, inputs), rules, route);
}

test.for<[FieldRule, unknown]>([
  ["duration", { duration: 5 }],
  [{ field: "duration", as: "text" }, { duration: "5" }],
  [{ field: "duration", as: "seconds" }, { duration: "5s" }],
  [{ field: "length_ms", as: "milliseconds" }, { length_ms: 5000 }],
  [{ field: "num_frames", as: "frames", frames_per_second: 16, extra_frames: 1 }, { num_frames: 81 }],
  [{ field: "input.duration" }, { input: { duration: 5 } }],
  [{ field: "duration", values: { 5: "short", 10: "long" } }, { duration: "short" }],
  [{ only: [5] }, {}],
])("a duration by the rule %j is %j", ([rule, written]) => {
  expect(write(film, { duration: rule })).toEqual(written);
});

test.for<[Record<string, FieldRule>, unknown]>([
  [{ size: "size" }, { size: "64x96" }],
  [{ size: { field: "size", as: "star" } }, { size: "64*96" }],
  [{ size: { field: "image_size", as: "object" } }, { image_size: { width: 64, height: 96 } }],
  [
    { width: "width", height: "height" },
    { width: 64, height: 96 },
  ],
  [{ size: { field: "aspect_ratio", values: { "64x96": "2:3" } } }, { aspect_ratio: "2:3" }],
])("a size by the rules %j is %j", ([rules, written]) => {
  expect(write(picture, rules)).toEqual(written);
});

test("images are one field or a list, as the vendor takes them", () => {
  expect(write(film, { input_images: "image_urls" }, {}, 2)).toEqual({ image_urls: ["https://x/0", "https://x/1"] });
  expect(write(film, { input_images: { field: "start_image_url", as: "first" } }, {}, 1)).toEqual({
    start_image_url: "https://x/0",
  });
  const both = { input_images: { field: "image_url", as: "sole" } as const };
  expect([write(film, both, {}, 1), write(film, both, {}, 2)]).toEqual([{ image_url: "https://x/0" }, {}]);
});

test("a route renames fields, adds parameters and maps voices", () => {
  const speech = { type: "speech", text: "Hi", voice: "alloy", format: "mp3", speed: 1 } as const;
  const route = {
    fields: { input: "text", voice: "voice_setting.voice_id" },
    parameters: { voice_setting: { pitch: 0 }, stream: false },
    voices: { alloy: "Rachel" },
  };
  const rules = { input: "input", voice: "voice", response_format: "format" };
  const written = { text: "Hi", voice_setting: { voice_id: "Rachel", pitch: 0 }, stream: false, format: "mp3" };
  expect(write(speech, rules, route)).toEqual(written);
  // The catalog's own object is not changed.
  expect(route.parameters.voice_setting).toEqual({ pitch: 0 });
  const other = { ...speech, voice: "nova" };
  expect(findFieldObstacle(listValues(other, []), rules, route)).toEqual({
    param: "voice",
    message: "`voice` must be one of these: alloy.",
  });
});

test.for<[string, GenerationRequest, Record<string, FieldRule>, string | null, string]>([
  ["an option without a rule", { ...film, options: { seed: 1 } }, {}, "seed", "does not support `seed`"],
  ["a value that is not listed", film, { duration: { only: [8] } }, "duration", "one of these for this request: 8."],
  ["a value without a word", film, { aspect_ratio: { field: "a", values: { "1:1": "s" } } }, "aspect_ratio", "1:1"],
  ["everything written", { ...film, options: { audio: false } }, { audio: "sound" }, null, ""],
])("%s has the obstacle %j", ([, request, rules, param, message]) => {
  const all = { prompt: "prompt", duration: "duration", aspect_ratio: "ratio", ...rules };
  const obstacle = findFieldObstacle(listValues(request, []), all);
  expect(obstacle?.param ?? null).toBe(param);
  expect(obstacle?.message ?? "").toContain(message);
});

test.each(["constructor", "__proto__", "toString"])("a voice named %s is no voice of the route's", (voice) => {
  const speech = { type: "speech", text: "Hi", voice, format: "mp3", speed: 1 } as const;
  const rules = { input: "text", voice: "voice", response_format: "format" };
  expect(findFieldObstacle(listValues(speech, []), rules, { voices: { alloy: "Rachel" } })).toMatchObject({
    param: "voice",
  });
  expect(write(speech, rules)).toMatchObject({ voice });
  expect(write(speech, rules, { voices: { alloy: "Rachel" } })).toMatchObject({ voice });
});

test("a vendor's field leads to the caller's, also renamed and nested", () => {
  const rules = { n: "num_images", avatar_image: "image_url", duration: "duration" };
  const route = { fields: { duration: "input.length" } };
  expect(findParam("num_images", rules)).toBe("n");
  expect(findParam("image_url", rules)).toBe("avatar_file_id");
  expect(findParam("input.length", rules, route)).toBe("duration");
  expect(findParam("duration", rules, route)).toBeNull();
});

import { expect, test } from "vitest";
import type { Model } from "../../catalog/index.ts";
import { checkAvatar, checkImage, checkSpeech, checkVideo } from "./check-generation.ts";

function createModel(type: Model["type"], fields: Partial<Model> = {}): Model {
  return {
    id: `a-${type}`,
    name: type,
    type,
    logo: "",
    description: "",
    advantages: [],
    scenarios: [],
    capabilities: [],
    limits: {},
    created_at: "2026-01-01T00:00:00Z",
    routes: [],
    ...fields,
  };
}

const imageModel = createModel("image", {
  capabilities: ["text_to_image", "image_to_image"],
  limits: { sizes: ["512x512", "1024x768"], max_n: 4, max_input_images: 2, max_prompt_length: 10 },
});
const videoModel = createModel("video", {
  capabilities: ["text_to_video"],
  limits: { durations: [5, 10], aspect_ratios: ["16:9", "9:16"], max_prompt_length: 10 },
});
const speechModel = createModel("speech", {
  capabilities: ["text_to_speech"],
  limits: { voices: ["alloy", "nova"], response_formats: ["mp3", "wav"], max_prompt_length: 5 },
});

function refusal(run: () => unknown): { code?: string; param?: string | null; message?: string } {
  try {
    run();
  } catch (error) {
    return error as { code: string };
  }
  return {};
}

test("missing values default to the model's first", () => {
  expect(checkImage({ model: "m", prompt: "a cat" }, imageModel).request).toEqual({
    type: "image",
    prompt: "a cat",
    width: 512,
    height: 512,
    count: 1,
  });
  expect(checkVideo({ model: "m", prompt: "a cat" }, videoModel).request).toEqual({
    type: "video",
    prompt: "a cat",
    durationSeconds: 5,
    aspectRatio: "16:9",
  });
  expect(checkSpeech({ model: "m", input: "hi", voice: "nova" }, speechModel).request).toEqual({
    type: "speech",
    text: "hi",
    voice: "nova",
    format: "mp3",
    speed: 1,
  });
});

const image = { model: "m", prompt: "a cat" };
const video = { model: "m", prompt: "a cat" };
const speech = { model: "m", input: "hi", voice: "nova" };

test.for<[string, () => unknown, { code: string; param: string }, string]>([
  [
    "a size",
    () => checkImage({ ...image, size: "1x1" }, imageModel),
    { code: "invalid_parameter", param: "size" },
    "512x512, 1024x768",
  ],
  [
    "too many images",
    () => checkImage({ ...image, n: 1_000_000_000 }, imageModel),
    { code: "invalid_parameter", param: "n" },
    "1 to 4",
  ],
  [
    "a duration",
    () => checkVideo({ ...video, duration: 7 }, videoModel),
    { code: "invalid_parameter", param: "duration" },
    "5, 10",
  ],
  [
    "a ratio",
    () => checkVideo({ ...video, aspect_ratio: "1:1" }, videoModel),
    { code: "invalid_parameter", param: "aspect_ratio" },
    "16:9, 9:16",
  ],
  [
    "a voice",
    () => checkSpeech({ ...speech, voice: "bob" }, speechModel),
    { code: "invalid_parameter", param: "voice" },
    "alloy, nova",
  ],
  [
    "a format",
    () => checkSpeech({ ...speech, response_format: "pcm" }, speechModel),
    { code: "invalid_parameter", param: "response_format" },
    "mp3, wav",
  ],
  [
    "one character too many",
    () => checkImage({ ...image, prompt: "12345678901" }, imageModel),
    { code: "prompt_too_long", param: "prompt" },
    "10 characters",
  ],
  [
    "one character too many to say",
    () => checkSpeech({ ...speech, input: "123456" }, speechModel),
    { code: "prompt_too_long", param: "input" },
    "5 characters",
  ],
  [
    "too many input images",
    () => checkImage({ ...image, input_images: ["file_a", "file_b", "file_c"] }, imageModel),
    { code: "invalid_parameter", param: "input_images" },
    "at most 2",
  ],
  [
    "input images",
    () => checkVideo({ ...video, input_images: ["file_a"] }, videoModel),
    { code: "unsupported_capability", param: "input_images" },
    "Remove",
  ],
  [
    "a model of another type",
    () => checkImage(image, videoModel),
    { code: "unsupported_capability", param: "model" },
    "type=image",
  ],
  [
    "neither a prompt nor images",
    () => checkVideo({ model: "m" }, videoModel),
    { code: "missing_parameter", param: "prompt" },
    "input_images",
  ],
])(
  "%s that the model does not support is rejected, and the error lists what it supports",
  ([, run, expected, hint]) => {
    const { code, param, message } = refusal(run);
    expect({ code, param }).toEqual(expected);
    expect(message).toContain(hint);
  },
);

test("a prompt at the limit is accepted, however many bytes its characters have", () => {
  expect(checkImage({ ...image, prompt: "🦊".repeat(10) }, imageModel).request).toMatchObject({
    prompt: "🦊".repeat(10),
  });
});

test.each([
  "./cat.png",
  "/etc/passwd",
  "file:///etc/passwd",
  "http://example.com/cat.png",
  "https://127.0.0.1/cat.png",
  "https://2130706433/cat.png",
  "https://[::1]/cat.png",
  "https://localhost/cat.png",
  "data:image/png;base64,AAAA",
])("%s is rejected as an input image", (address) => {
  const { code, param } = refusal(() => checkImage({ ...image, input_images: ["file_a", address] }, imageModel));
  expect({ code, param }).toEqual({ code: "invalid_url", param: "input_images[1]" });
});

test.each(["data:image/png;base64,AAAA", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"])(
  "an image sent as %s gets the endpoint for uploads",
  (sent) => {
    const { message } = refusal(() => checkImage({ ...image, input_images: [sent] }, imageModel));
    expect(message).toBe("This is the image itself. Upload it with `POST /v1/files` and send its `file_id`.");
  },
);

test("input images are file ids or URLs, and change the required capability", () => {
  const body = { ...image, input_images: ["file_01abc", "https://example.com/cat.png"] };
  expect(checkImage(body, imageModel)).toMatchObject({
    capability: "image_to_image",
    inputs: [
      { role: "image", param: "input_images[0]", fileId: "file_01abc" },
      { role: "image", param: "input_images[1]", url: "https://example.com/cat.png" },
    ],
  });
  expect(checkImage(image, imageModel).capability).toBe("text_to_image");
});

test("an avatar starts from a person and a voice", () => {
  const model = createModel("avatar", { limits: { aspect_ratios: ["9:16"] } });
  const body = { model: "m", avatar_file_id: "file_a", audio_file_id: "file_b" };
  expect(checkAvatar(body, model)).toMatchObject({
    request: { type: "avatar", aspectRatio: "9:16" },
    inputs: [
      { role: "person", param: "avatar_file_id", fileId: "file_a" },
      { role: "audio", param: "audio_file_id", fileId: "file_b" },
    ],
  });
});

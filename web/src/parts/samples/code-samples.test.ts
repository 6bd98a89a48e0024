import { expect, test } from "vitest";
import { writeModelSamples } from "./code-samples.ts";

const baseUrl = "https://ai.example.com/v1";
type Model = Parameters<typeof writeModelSamples>[0];

function writeCurl(model: Partial<Model> & Pick<Model, "type">): string {
  return writeModelSamples({ id: "some/model", capabilities: [], ...model }, baseUrl)[0].code;
}

test.each([
  ["chat", "/chat/completions"],
  ["image", "/images/generations"],
  ["video", "/videos/generations"],
  ["avatar", "/avatars/generations"],
  ["drama", "/dramas/generations"],
  ["speech", "/audio/speech"],
  ["embedding", "/embeddings"],
  ["transcription", "/audio/transcriptions"],
] as const)("%s is called at %s of this deployment with the model's id", (type, path) => {
  for (const { code } of writeModelSamples({ id: "some/model", type, capabilities: [] }, baseUrl)) {
    expect(code).toContain(baseUrl);
    expect(code).toContain('"some/model"');
  }
  expect(writeCurl({ type })).toContain(`${baseUrl}${path}`);
});

test("the body respects the model's limits", () => {
  const limits = { durations: [8], aspect_ratios: ["4:3"], sizes: ["64x64"], voices: ["zoe"] };
  const video = writeCurl({ type: "video", capabilities: ["text_to_video"], limits });
  expect(video).toContain('"duration": 8');
  expect(video).toContain('"aspect_ratio": "4:3"');
  expect(video).not.toContain("input_images");
  expect(writeCurl({ type: "image", limits })).toContain('"size": "64x64"');
  expect(writeCurl({ type: "speech", limits })).toContain('"voice": "zoe"');
});

test("a model that requires an image gets one", () => {
  expect(writeCurl({ type: "video", capabilities: ["image_to_video"] })).toContain("input_images");
  expect(writeCurl({ type: "image", capabilities: ["image_to_image"] })).toContain("input_images");
});

test("a drama starts with the cheapest stage the model has", () => {
  expect(writeCurl({ type: "drama", capabilities: ["script_generation"] })).toContain('"stage": "script"');
  expect(writeCurl({ type: "drama", capabilities: ["drama_video"] })).not.toContain('"stage"');
});

test("task submissions have an idempotency key", () => {
  for (const type of ["image", "video", "avatar", "drama"] as const) {
    for (const { code } of writeModelSamples({ id: "m", type, capabilities: [] }, baseUrl)) {
      expect(code).toContain("Idempotency-Key");
    }
  }
});

import { expect, test } from "vitest";
import type { ModelDetail, PriceList } from "../../api/fetch-catalog.ts";
import { estimateCharge, findHold } from "./estimate-charge.ts";
import { listExamples } from "./examples.ts";
import { listMediaFields } from "./media-fields.ts";
import { buildMediaBody, type KeptFile, type MediaValues, parseValues } from "./media-values.ts";

type Part = Pick<ModelDetail, "id" | "type" | "capabilities" | "limits">;

const image: Part = {
  id: "painter",
  type: "image",
  capabilities: ["text_to_image", "image_to_image"],
  limits: { sizes: ["512x512", "1024x1024"], max_n: 4, max_input_images: 2, max_prompt_length: 10 },
};
const sketcher: Part = { ...image, id: "sketcher", limits: { ...image.limits, quality: ["high", "low"] } };
const video: Part = {
  id: "video-model",
  type: "video",
  capabilities: ["text_to_video", "image_to_video"],
  limits: { durations: [5, 10], aspect_ratios: ["16:9"] },
};
const drama: Part = {
  id: "stage",
  type: "drama",
  capabilities: ["script_generation", "role_analysis", "storyboard", "drama_video"],
  limits: { durations: [60], aspect_ratios: ["16:9"] },
};
const speech: Part = { id: "voice", type: "speech", capabilities: ["text_to_speech"], limits: { voices: ["ada"] } };
const avatar: Part = { id: "face", type: "avatar", capabilities: ["audio_driven_avatar"], limits: {} };

const file = (id: string, seconds: number | null = null): KeptFile => ({
  id,
  name: `${id}.bin`,
  contentType: "image/png",
  bytes: 1,
  seconds,
});

function build(model: Part, values: MediaValues) {
  return buildMediaBody(model.id, listMediaFields(model), values);
}

test.each([
  [image, ["prompt", "size", "n", "input_images"]],
  [{ ...image, capabilities: ["text_to_image"], limits: {} }, ["prompt"]],
  [video, ["prompt", "duration", "aspect_ratio", "input_images"]],
  [avatar, ["avatar_file_id", "audio_file_id"]],
  [drama, ["title", "script", "stage", "aspect_ratio", "characters"]],
  [{ ...drama, capabilities: ["script_generation"] }, ["title", "script", "stage", "aspect_ratio", "characters"]],
  [speech, ["input", "voice", "speed"]],
] as [Part, string[]][])("the form of $type has the model's fields: %$", (model, names) => {
  expect(listMediaFields(model).map(({ name }) => name)).toEqual(names);
});

test("the model's options are fields, sent with the types that the API expects", () => {
  const limits = {
    ...video.limits,
    resolution: ["720p", "1080p"],
    audio: [true, false],
    frame_rate: [24, 30],
    seed: true,
  };
  const rich = { ...video, limits: { ...limits, negative_prompt: true } } as Part;
  const values = { prompt: "Waves", resolution: "1080p", audio: "false", frame_rate: "30", negative_prompt: "rain" };
  expect(build(rich, values)).toMatchObject({
    ...{ body: { resolution: "1080p", audio: false, frame_rate: 30, negative_prompt: "rain" }, problems: {} },
  });
  expect(build(rich, { prompt: "Waves" }).body).toMatchObject({ resolution: "720p", audio: true, frame_rate: 24 });
  expect(build(rich, { prompt: "Waves" }).body).not.toHaveProperty("negative_prompt");
  // Of an avatar the prompt is optional, and stands for nothing else.
  const actor = { ...avatar, limits: { prompt: true } } as Part;
  const files = { avatar_file_id: [file("file_1")], audio_file_id: [file("file_2", 3)] };
  expect(build(actor, files).problems).toEqual({});
});

test("options are the model's own, and an unknown choice falls back to the first", () => {
  expect(build(image, { prompt: "A boat", size: "9x9", n: "3" })).toEqual({
    body: { model: "painter", prompt: "A boat", size: "512x512", n: 3 },
    problems: {},
  });
  expect(build(video, { prompt: "Waves", duration: "10" }).body).toMatchObject({ duration: 10, aspect_ratio: "16:9" });
  const onlyScript = listMediaFields({ ...drama, capabilities: ["script_generation"] });
  expect(onlyScript[2]).toMatchObject({ options: [{ value: "script" }] });
});

test.each([
  [image, {}, "prompt", "required"],
  [image, { prompt: "eleven char" }, "prompt", "Use at most 10"],
  [image, { prompt: "A", n: "5" }, "n", "whole number from 1 to 4"],
  [video, {}, "prompt", "choose a start image"],
  [{ ...video, capabilities: ["image_to_video"] }, { prompt: "x" }, "input_images", "Choose a file"],
  [speech, { input: "Hi", speed: "9" }, "speed", "from 0.25 to 4"],
  [avatar, { avatar_file_id: [file("file_a")] }, "audio_file_id", "Choose a file"],
  [drama, { title: "T", script: "S", characters: [{ name: " ", file: file("f") }] }, "characters", "character name"],
] as [Part, MediaValues, string, string][])("%o with %o is rejected at %s", (model, values, name, words) => {
  expect(build(model, values).problems[name]).toContain(words);
});

test("characters and files become API parameters", () => {
  const characters = [
    { name: " Anna ", file: file("file_a") },
    { name: "", file: null },
    { name: "Ben", file: null },
  ];
  expect(build(drama, { title: "T", script: "S", characters }).body).toEqual({
    model: "stage",
    title: "T",
    script: "S",
    stage: "storyboard",
    aspect_ratio: "16:9",
    characters: [{ name: "Anna", reference_file_id: "file_a" }, { name: "Ben" }],
  });
  expect(build(image, { prompt: "A", input_images: [file("file_b")] }).body.input_images).toEqual(["file_b"]);
  expect(build(avatar, { avatar_file_id: [file("file_c")] }).body.avatar_file_id).toBe("file_c");
});

test("invalid stored values are dropped", () => {
  expect(parseValues({ prompt: "kept", n: 3, bad: [1], files: [file("f")] })).toEqual({
    prompt: "kept",
    files: [file("f")],
  });
  expect(parseValues("text")).toEqual({});
});

const prices = [
  { model: "painter", billing_type: "per_call", unit: "image", price: "0.02" },
  { model: "painter", billing_type: "per_call", unit: "image", price: "0.05", capability: "image_to_image" },
  {
    ...{ model: "sketcher", billing_type: "per_call", unit: "image", price: "0.25" },
    items: [
      { item: "image", quality: "high", price: "0.25" },
      { item: "image", price: "0.04" },
      { item: "input_image", price: "0.01" },
      { item: "call", price: "0.002" },
    ],
  },
  { model: "video-model", billing_type: "duration", unit: "second", price: "0.05", minimum_charge: "0.30" },
  { model: "face", billing_type: "duration", unit: "second", price: "0.03", minimum_charge: "0.15" },
  { model: "voice", billing_type: "per_call", unit: "1K characters", price: "0.015" },
  { model: "stage", billing_type: "per_call", unit: "call", price: "0.02", capability: "script_generation" },
  { model: "stage", billing_type: "per_call", unit: "call", price: "0.01", capability: "role_analysis" },
  { model: "stage", billing_type: "per_call", unit: "call", price: "0.10", capability: "storyboard" },
  { model: "stage", billing_type: "duration", unit: "second", price: "0.08", capability: "drama_video" },
] as PriceList["data"];

test.each([
  [image, { prompt: "A", n: "3" }, "0.06"],
  [image, { prompt: "A", input_images: [file("f")] }, "0.05"],
  [sketcher, { prompt: "A", n: "2" }, "0.502"],
  [sketcher, { prompt: "A", quality: "low", input_images: [file("f")] }, "0.052"],
  [video, { prompt: "A", duration: "10" }, "0.5"],
  [video, { prompt: "A", duration: "5" }, "0.3"],
  [speech, { input: "x".repeat(101) }, "0.001515"],
  [avatar, { audio_file_id: [file("f", 6.1)] }, "0.21"],
  [avatar, { audio_file_id: [file("f", 1)] }, "0.15"],
  [drama, { stage: "roles" }, "0.03"],
  [drama, { stage: "video" }, undefined],
] as [Part, MediaValues, string | undefined][])("%o with %o costs %s", (model, values, amount) => {
  expect(estimateCharge(prices, { model, body: build(model, values).body, values })?.amount).toBe(amount);
});

test("a drama's estimate and hold follow its script, up to the longest video", () => {
  const values = { title: "T", script: "ANNA: The lamp is out. Somebody has to climb up.", stage: "video" };
  const estimate = estimateCharge(prices, { model: drama, body: build(drama, values).body, values });
  // A title, a shot without lines, and one line: 9 s.
  const amounts = { amount: "0.85", most: "2.53" };
  expect(estimate).toEqual({ kind: "about", ...amounts, shots: 2, seconds: 9, secondsMax: 30 });
  const long = { ...values, script: `ANNA: ${"The lamp is out. ".repeat(60)}` };
  expect(estimateCharge(prices, { model: drama, body: build(drama, long).body, values: long })).toMatchObject({
    most: "4.93",
    secondsMax: 60,
  });
  const board = { object: "drama.storyboard", shots: [{ duration: 4, lines: [] }] };
  const film = { model: "stage", stage: "video", script: board };
  expect(estimateCharge(prices, { model: drama, body: film, values: {} })).toMatchObject({
    amount: "0.56",
    most: "0.88",
  });
});

test("the drama examples can run one after the other on a welcome credit of 5", () => {
  const [first, second] = listExamples(drama).map(({ values }) => {
    const { body } = build(drama, { ...values, stage: "video" });
    const estimate = estimateCharge(prices, { model: drama, body, values });
    return { cost: Number(estimate?.amount), held: estimate === null ? 0 : Number(findHold(estimate)) };
  });
  expect(first?.held).toBeLessThan(5);
  expect((first?.cost ?? 5) + (second?.held ?? 5)).toBeLessThan(5);
});

test("an unknown price has no estimate", () => {
  expect(estimateCharge([], { model: image, body: {}, values: {} })).toBeNull();
  expect(estimateCharge(prices, { model: avatar, body: {}, values: {} })).toBeNull();
});

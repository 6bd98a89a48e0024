import type RunwayML from "@runwayml/sdk";
import { Type } from "typebox";
import { address, bearer, film, oneOf, picture, pixels, type QueueWire, seed, strict, text } from "./queue-wire.ts";

const moderation = strict({}, { publicFigureThreshold: oneOf("auto", "low") });
const frames = (...positions: string[]) =>
  Type.Union([address, Type.Array(strict({ position: oneOf(...positions), uri: address }), { minItems: 1 })]);
const seconds = Type.Integer({ minimum: 2, maximum: 10 });
const wide = ["1280:720", "720:1280"];
const veo = { audio: Type.Boolean(), duration: oneOf(4, 6, 8), negativePrompt: text, seed };
const still = [
  ...["1024:1024", "1080:1080", "1168:880", "1360:768", "1440:1080", "1080:1440", "1808:768", "1920:1080"],
  ...["1080:1920", "2112:912", "1280:720", "720:1280", "720:720", "960:720", "720:960", "1680:720"],
];

/** The model decides the other fields. */
const textToVideo = Type.Union([
  strict(
    { model: oneOf("gen4.5"), promptText: text, duration: seconds, ratio: oneOf(...wide) },
    { seed, contentModeration: moderation },
  ),
  strict({ model: oneOf("veo3.1"), promptText: text, ratio: oneOf(...wide, "1080:1920", "1920:1080") }, veo),
  strict(
    { model: oneOf("hailuo3"), promptText: text },
    {
      ...{ duration: Type.Integer(), resolution: oneOf("768p", "2k", "768P", "2K") },
      ratio: oneOf("adaptive", "21:9", "16:9", "4:3", "1:1", "3:4", "9:16"),
    },
  ),
]);

const imageToVideo = Type.Union([
  strict(
    {
      ...{ model: oneOf("gen4_turbo"), promptImage: frames("first") },
      ratio: oneOf(...wide, "1104:832", "832:1104", "960:960", "1584:672"),
    },
    { promptText: text, duration: seconds, seed, contentModeration: moderation },
  ),
  strict(
    {
      ...{ model: oneOf("veo3.1"), promptImage: frames("first", "last") },
      ratio: oneOf(...wide, "1080:1920", "1920:1080"),
    },
    { promptText: text, ...veo },
  ),
]);

const textToImage = strict(
  { model: oneOf("gen4_image"), promptText: text, ratio: oneOf(...still) },
  {
    ...{ seed, contentModeration: moderation },
    referenceImages: Type.Array(strict({ uri: address }, { tag: text }), { minItems: 1, maxItems: 3 }),
  },
);

type Task = RunwayML.TaskRetrieveResponse;
const common = { id: "job-1", createdAt: "2026-11-18T00:00:00.000Z" };
const estimatedCost = { credits: 25 };
const cost = { credits: 25 };

export const runwayWire: QueueWire = {
  source: { documentation: "https://docs.dev.runwayml.com/api", sdk: "@runwayml/sdk" },
  base: "/v1",
  model: "veo3.1",
  headers: { ...bearer, "x-runway-version": "2024-11-06" },
  accepts: { "/v1/text_to_video": textToVideo, "/v1/image_to_video": imageToVideo, "/v1/text_to_image": textToImage },
  examples: [
    {
      request: { ...film, durationSeconds: 6, options: { seed: 7, audio: true, negative_prompt: "rain" } },
      path: "/v1/text_to_video",
      body: {
        model: "veo3.1",
        promptText: "Waves",
        duration: 6,
        ratio: "1280:720",
        seed: 7,
        audio: true,
        negativePrompt: "rain",
      } satisfies RunwayML.TextToVideoCreateParams,
    },
    {
      request: { ...film, durationSeconds: 6 },
      inputs: ["image", "last-image"],
      path: "/v1/image_to_video",
      body: {
        model: "veo3.1",
        promptText: "Waves",
        duration: 6,
        ratio: "1280:720",
        promptImage: [
          { uri: pixels, position: "first" },
          { uri: pixels, position: "last" },
        ],
      } satisfies RunwayML.ImageToVideoCreateParams,
    },
    {
      model: "hailuo3",
      route: { fields: { aspect_ratio: "ratio" } },
      request: { ...film, options: { resolution: "768p" } },
      path: "/v1/text_to_video",
      body: {
        model: "hailuo3",
        promptText: "Waves",
        duration: 5,
        ratio: "16:9",
        resolution: "768p",
      } satisfies RunwayML.TextToVideoCreateParams,
    },
    {
      model: "gen4_image",
      request: { ...picture, width: 1920, height: 1080 },
      inputs: ["image"],
      path: "/v1/text_to_image",
      body: {
        model: "gen4_image",
        promptText: "A barn",
        ratio: "1920:1080",
        referenceImages: [{ uri: pixels }],
      } satisfies RunwayML.TextToImageCreateParams,
    },
  ],
  accepted: { id: "job-1", estimatedCost } satisfies RunwayML.TextToVideoCreateResponse,
  pollPath: "/v1/tasks/job-1",
  states: {
    queued: { ...common, status: "THROTTLED", estimatedCost } satisfies Task,
    running: { ...common, status: "RUNNING", progress: 0.25, estimatedCost } satisfies Task,
    odd: { ...common, status: "PAUSED" },
    done: { ...common, status: "SUCCEEDED", output: ["{url}"], cost } satisfies Task,
    failed: {
      ...common,
      status: "FAILED",
      cost: { credits: 0 },
      failure: "An unexpected error occurred.",
      failureCode: "INTERNAL.BAD_OUTPUT.CODE01",
    } satisfies Task,
    refused: {
      ...common,
      status: "FAILED",
      cost,
      failure: "Text prompt did not pass content moderation.",
      failureCode: "SAFETY.INPUT.TEXT",
    } satisfies Task,
    canceled: { ...common, status: "CANCELLED", cost: { credits: 0 } } satisfies Task,
  },
  progress: 25,
  refusals: {
    key: [401, { error: "The API key is invalid." }],
    credit: [400, { error: "You do not have enough credits to run this task." }],
    rate: [429, { error: "You have reached your daily task limit." }],
    invalid: [
      400,
      {
        error: "Validation of body failed",
        issues: [{ code: "invalid_value", path: ["ratio"], message: "Invalid option" }],
        docUrl: "https://docs.dev.runwayml.com/api",
      },
    ],
    content: [400, { error: "The prompt was flagged by our safety system.", failureCode: "SAFETY.INPUT.TEXT" }],
    model: [403, { error: "Model variant gen9 is not available." }],
  },
  cancel: { method: "DELETE", path: "/v1/tasks/job-1", reply: [204, undefined] },
};

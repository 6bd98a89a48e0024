import type { GenerateContentResponse } from "@google/genai";
import { type TSchema, Type } from "typebox";
import { bare, film, oneOf, picture, type QueueWire, seed, strict, text } from "./queue-wire.ts";

const base64 = Type.String({ pattern: "^[A-Za-z0-9+/]+=*$" });
const frame = strict({ bytesBase64Encoded: base64, mimeType: text });
const people = oneOf("dont_allow", "allow_adult", "allow_all");

const veo = (more: Record<string, TSchema>): TSchema =>
  strict({
    instances: Type.Array(strict({}, { prompt: text, image: frame, lastFrame: frame }), { minItems: 1, maxItems: 1 }),
    parameters: strict(
      {},
      {
        ...{ aspectRatio: oneOf("16:9", "9:16"), durationSeconds: oneOf(4, 6, 8), negativePrompt: text },
        ...{ resolution: oneOf("720p", "1080p", "4k"), personGeneration: people, sampleCount: Type.Integer() },
        ...{ enhancePrompt: Type.Boolean(), ...more },
      },
    ),
  });

const part = Type.Union([strict({ text }), strict({ inlineData: strict({ mimeType: text, data: base64 }) })]);
const content = strict(
  {
    contents: Type.Array(strict({ parts: Type.Array(part, { minItems: 1 }) }, { role: oneOf("user") }), {
      minItems: 1,
    }),
  },
  {
    generationConfig: strict(
      {},
      {
        seed,
        responseModalities: Type.Array(oneOf("IMAGE", "TEXT")),
        imageConfig: strict(
          {},
          {
            aspectRatio: oneOf("1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"),
            imageSize: oneOf("1K", "2K", "4K"),
          },
        ),
      },
    ),
    safetySettings: Type.Array(Type.Unknown()),
  },
);

const imagen = strict({
  instances: Type.Array(strict({ prompt: text }), { minItems: 1, maxItems: 1 }),
  parameters: strict(
    {},
    {
      ...{ seed, negativePrompt: text, includeRaiReason: Type.Boolean(), addWatermark: Type.Boolean() },
      ...{ personGeneration: people, safetySetting: text, enhancePrompt: Type.Boolean() },
      sampleCount: Type.Integer({ minimum: 1, maximum: 4 }),
      aspectRatio: oneOf("1:1", "3:4", "4:3", "9:16", "16:9"),
      sampleImageSize: oneOf("1K", "2K"),
    },
  ),
});

const withheld =
  "Sorry, we can't create videos with input photos containing celebrities or their likenesses. Please remove the reference and try again.";
const status = (code: number, name: string, message: string, details: unknown[] = []) =>
  [code, { error: { code, message, status: name, ...(details.length === 0 ? {} : { details }) } }] as const;
const keyRefused = {
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason: "API_KEY_INVALID",
  domain: "googleapis.com",
};

const refusals: QueueWire["refusals"] = {
  key: status(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [keyRefused]),
  credit: status(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted. Please go to AI Studio."),
  rate: status(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
  invalid: status(400, "INVALID_ARGUMENT", "`durationSeconds` isn't supported by this model."),
  content: status(
    400,
    "INVALID_ARGUMENT",
    "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
  ),
  model: status(404, "NOT_FOUND", "models/veo-9 is not found for API version v1beta, or is not supported."),
};

const operation = "models/veo-3.1-generate-preview/operations/job-1";

/**
 * Gemini's image models and Veo by the Gemini API. `@google/genai` drives the images; since version 3 it has no Veo
 * without Vertex AI, so `@ai-sdk/google` drives the videos.
 */
export const googleMediaWire: QueueWire = {
  source: { documentation: "https://ai.google.dev/gemini-api/docs/video", sdk: "@ai-sdk/google" },
  base: "/v1beta",
  model: "veo-3.1-generate-preview",
  headers: { "x-goog-api-key": "sk-1" },
  accepts: {
    "/v1beta/models/veo-3.1-generate-preview:predictLongRunning": veo({}),
    "/v1beta/models/gemini-3-pro-image:generateContent": content,
  },
  examples: [
    {
      request: {
        ...{ ...film, durationSeconds: 8 },
        options: { resolution: "1080p", negative_prompt: "rain" },
      },
      inputs: ["image", { role: "last-image", url: "https://images.example.com/barn.png" }],
      route: { parameters: { parameters: { personGeneration: "allow_adult" } } },
      path: "/v1beta/models/veo-3.1-generate-preview:predictLongRunning",
      body: {
        instances: [
          {
            prompt: "Waves",
            image: { bytesBase64Encoded: bare, mimeType: "image/png" },
            lastFrame: { bytesBase64Encoded: bare, mimeType: "image/png" },
          },
        ],
        parameters: {
          ...{ durationSeconds: 8, aspectRatio: "16:9", resolution: "1080p", negativePrompt: "rain" },
          personGeneration: "allow_adult",
        },
      },
    },
    {
      model: "gemini-3-pro-image",
      request: { ...picture, width: 1344, height: 768, options: { resolution: "2k", seed: 7 } },
      inputs: ["image"],
      path: "/v1beta/models/gemini-3-pro-image:generateContent",
      body: {
        contents: [
          { role: "user", parts: [{ text: "A barn" }, { inlineData: { mimeType: "image/png", data: bare } }] },
        ],
        generationConfig: {
          responseModalities: ["IMAGE"],
          imageConfig: { aspectRatio: "16:9", imageSize: "2K" },
          seed: 7,
        },
      },
      reply: {
        done: {
          candidates: [
            {
              content: { role: "model", parts: [{ inlineData: { mimeType: "image/png", data: "{bytes}" } }] },
              finishReason: "STOP",
              index: 0,
            },
          ],
          usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1290, totalTokenCount: 1299 },
          modelVersion: "gemini-3-pro-image",
        },
        refused: {
          candidates: [{ content: {}, finishReason: "IMAGE_SAFETY", index: 0 }],
          usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
        } satisfies Record<keyof Pick<GenerateContentResponse, "candidates" | "usageMetadata">, unknown>,
      },
    },
  ],
  id: operation,
  accepted: { name: operation },
  pollPath: `/v1beta/${operation}`,
  keyPath: "/v1beta/models",
  isQueueHidden: true,
  states: {
    queued: { name: operation },
    running: { name: operation, metadata: { "@type": "type.googleapis.com/google.ai.Metadata" } },
    odd: { name: operation, metadata: { state: "rendering" } },
    done: {
      name: operation,
      done: true,
      response: {
        "@type": "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse",
        generateVideoResponse: { generatedSamples: [{ video: { uri: "{url}" } }] },
      },
    },
    failed: { name: operation, done: true, error: { code: 13, message: "Internal error. Please try again later." } },
    refused: {
      name: operation,
      done: true,
      response: { generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [withheld] } },
    },
  },
  refusals,
};

const job = "projects/7/locations/us-central1/publishers/google/models/veo-3.1-generate-001/operations/job-1";

/** Veo and Imagen on the Agent Platform in express mode, where a key is enough. */
export const vertexMediaWire: QueueWire = {
  source: {
    documentation: "https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/veo",
    sdk: "@google/genai",
  },
  base: "/v1beta1",
  model: "veo-3.1-generate-001",
  headers: { "x-goog-api-key": "sk-1" },
  accepts: {
    "/v1beta1/publishers/google/models/veo-3.1-generate-001:predictLongRunning": veo({
      ...{ generateAudio: Type.Boolean(), seed },
    }),
    "/v1beta1/publishers/google/models/imagen-4.0-generate-001:predict": imagen,
  },
  examples: [
    {
      request: { ...film, durationSeconds: 8, options: { audio: false, seed: 7 } },
      inputs: ["image"],
      path: "/v1beta1/publishers/google/models/veo-3.1-generate-001:predictLongRunning",
      body: {
        instances: [{ prompt: "Waves", image: { bytesBase64Encoded: bare, mimeType: "image/png" } }],
        parameters: { durationSeconds: 8, aspectRatio: "16:9", generateAudio: false, seed: 7 },
      },
    },
    {
      model: "imagen-4.0-generate-001",
      request: { ...picture, width: 1408, height: 768, count: 2, options: { negative_prompt: "rain" } },
      path: "/v1beta1/publishers/google/models/imagen-4.0-generate-001:predict",
      body: {
        instances: [{ prompt: "A barn" }],
        parameters: { sampleCount: 2, aspectRatio: "16:9", negativePrompt: "rain", includeRaiReason: true },
      },
      reply: {
        done: { predictions: [{ mimeType: "image/png", bytesBase64Encoded: "{bytes}", prompt: "A red barn" }] },
        refused: { predictions: [{ raiFilteredReason: "Unable to show generated images." }] },
      },
    },
  ],
  id: job,
  accepted: { name: job },
  pollPath:
    "/v1beta1/projects/7/locations/us-central1/publishers/google/models/veo-3.1-generate-001:fetchPredictOperation",
  pollBody: { operationName: job },
  keyPath: "/v1beta1/publishers/google/models",
  isQueueHidden: true,
  states: {
    queued: { name: job },
    running: { name: job },
    odd: { name: job, metadata: { state: "rendering" } },
    done: {
      name: job,
      done: true,
      response: {
        "@type": "type.googleapis.com/cloud.ai.large_models.vision.GenerateVideoResponse",
        videos: [{ bytesBase64Encoded: "{bytes}", mimeType: "video/mp4" }],
      },
    },
    failed: { name: job, done: true, error: { code: 13, message: "Internal error. Please try again later." } },
    refused: {
      name: job,
      done: true,
      response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [withheld] },
    },
  },
  refusals: {
    ...refusals,
    credit: status(403, "PERMISSION_DENIED", "This API method requires billing to be enabled.", [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "BILLING_DISABLED" },
    ]),
    model: status(404, "NOT_FOUND", "Publisher Model `publishers/google/models/veo-9` was not found."),
  },
};

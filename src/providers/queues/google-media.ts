import { describeVeo, googleOperations, operationWords, readDataUri, readOperation } from "./google-operations.ts";
import type { QueueVendor } from "./queue-vendor.ts";

/** The sizes of the lowest resolution, which stand for their aspect ratio. */
const ratios = {
  "1024x1024": "1:1",
  "832x1248": "2:3",
  "1248x832": "3:2",
  "864x1184": "3:4",
  "1184x864": "4:3",
  "896x1152": "4:5",
  "1152x896": "5:4",
  "768x1344": "9:16",
  "1344x768": "16:9",
  "1536x672": "21:9",
};

/** Gemini's image models and Veo by the Gemini API, with a key. Google has shut Imagen down here. */
export const googleMedia: QueueVendor = {
  ...googleOperations,
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  keyPath: "models",
  makes: {
    image: {
      path: "models/{model}:generateContent",
      fields: {
        prompt: "text",
        n: { only: [1] },
        size: { field: "generationConfig.imageConfig.aspectRatio", values: ratios },
        resolution: {
          field: "generationConfig.imageConfig.imageSize",
          values: { "1k": "1K", "2k": "2K", "4k": "4K" },
        },
        input_images: "images",
        seed: "generationConfig.seed",
      },
      inline: "always",
      arrange: ({ text, images, generationConfig, ...rest }) => ({
        ...rest,
        contents: [
          {
            role: "user",
            parts: [
              { text },
              ...(Array.isArray(images) ? images : []).map((image) => ({ inlineData: readDataUri(image) })),
            ],
          },
        ],
        generationConfig: { responseModalities: ["IMAGE"], ...(generationConfig as object) },
      }),
      isImmediate: true,
      isEncoded: true,
      outputs: ["candidates.*.content.parts.*.inlineData.data"],
      withheld: {
        at: ["promptFeedback.blockReason", "candidates.*.finishReason"],
        words: /SAFETY|PROHIBITED|RECITATION|BLOCKLIST|SPII|IMAGE_OTHER|MODEL_ARMOR/,
      },
    },
    video: {
      ...describeVeo({}),
      path: "models/{model}:predictLongRunning",
      outputs: ["response.generateVideoResponse.generatedSamples.*.video.uri"],
      withheld: { at: ["response.generateVideoResponse.raiMediaFilteredReasons.*"] },
    },
  },
  poll: { path: "{id}", status: readOperation, words: operationWords },
};

import { describeVeo, googleOperations, operationWords, readOperation } from "./google-operations.ts";
import type { QueueVendor } from "./queue-vendor.ts";

/** Imagen's sizes, which stand for their aspect ratio. */
const ratios = {
  "1024x1024": "1:1",
  "896x1280": "3:4",
  "1280x896": "4:3",
  "768x1408": "9:16",
  "1408x768": "16:9",
};

/** Veo and Imagen on Google's Agent Platform, formerly Vertex AI, with an API key (express mode). */
export const vertexMedia: QueueVendor = {
  ...googleOperations,
  baseUrl: "https://aiplatform.googleapis.com/v1beta1",
  keyPath: "publishers/google/models",
  makes: {
    image: {
      path: "publishers/google/models/{model}:predict",
      fields: {
        prompt: "prompt",
        n: "parameters.sampleCount",
        size: { field: "parameters.aspectRatio", values: ratios },
        resolution: { field: "parameters.sampleImageSize", values: { "1k": "1K", "2k": "2K" } },
        seed: "parameters.seed",
        negative_prompt: "parameters.negativePrompt",
      },
      // Without it, an image that was withheld is only missing.
      arrange: ({ prompt, parameters, ...rest }) => ({
        ...rest,
        instances: [{ prompt }],
        parameters: { includeRaiReason: true, ...(parameters as object) },
      }),
      isImmediate: true,
      isEncoded: true,
      outputs: ["predictions.*.bytesBase64Encoded"],
      withheld: { at: ["predictions.*.raiFilteredReason"] },
    },
    video: {
      ...describeVeo({ audio: "parameters.generateAudio", seed: "parameters.seed" }),
      path: "publishers/google/models/{model}:predictLongRunning",
      isEncoded: true,
      outputs: ["response.videos.*.bytesBase64Encoded"],
      withheld: { at: ["response.raiMediaFilteredReasons.*"] },
    },
  },
  poll: {
    // The operation's name begins with the model that it belongs to.
    path: (id) => `${id.split("/operations/")[0]}:fetchPredictOperation`,
    ask: (id) => ({ operationName: id }),
    status: readOperation,
    words: operationWords,
  },
};

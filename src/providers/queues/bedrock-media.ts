import type { Clock } from "../../lib/clock.ts";
import { type AwsAccount, createAwsAccess, createBedrockSigner } from "../accounts/aws-access.ts";
import { readBaseUrl } from "../base-url.ts";
import type { GenerationProvider } from "../generation.ts";
import { createMediaClient, type MediaClientOptions } from "../media-client.ts";
import { createInstantGeneration } from "./create-instant-generation.ts";
import { readDataUri } from "./google-operations.ts";
import type { MediaVendor, Products, QueueProduct } from "./queue-vendor.ts";

/** Stability's sizes of one megapixel, which stand for their aspect ratio. */
const ratios = {
  "1024x1024": "1:1",
  "1344x768": "16:9",
  "1536x640": "21:9",
  "832x1216": "2:3",
  "1216x832": "3:2",
  "896x1088": "4:5",
  "1088x896": "5:4",
  "768x1344": "9:16",
  "640x1536": "9:21",
};

/** Stability requires it with an image: how far the result may depart from it. A route's `parameters` replace it. */
const usualStrength = 0.7;

const invocation = { path: "model/{model}/invoke", inline: "always", isImmediate: true, isEncoded: true } as const;

const stabilityImage = {
  ...invocation,
  fields: {
    prompt: "prompt",
    n: { only: [1] },
    size: { field: "aspect_ratio", values: ratios },
    seed: "seed",
    negative_prompt: "negative_prompt",
  },
  outputs: ["images.*"],
  withheld: { at: ["finish_reasons.*"], words: /^Filter reason/ },
} as const satisfies QueueProduct;

const stability: Products = { image: stabilityImage };

const stableDiffusion: Products = {
  image: {
    ...stabilityImage,
    fields: { ...stabilityImage.fields, input_images: { field: "image", as: "first" } },
    arrange({ image, ...rest }) {
      if (image === undefined) return rest;
      // The result has the image's shape.
      const { aspect_ratio: _, ...others } = rest;
      return { mode: "image-to-image", strength: usualStrength, ...others, image: readDataUri(image).data };
    },
  },
};

/** Amazon's own models. A request with images asks for variations of them. */
const amazon: Products = {
  image: {
    ...invocation,
    fields: {
      prompt: "text",
      negative_prompt: "negativeText",
      input_images: "images",
      n: "imageGenerationConfig.numberOfImages",
      width: "imageGenerationConfig.width",
      height: "imageGenerationConfig.height",
      quality: {
        field: "imageGenerationConfig.quality",
        values: { standard: "standard", premium: "premium" },
      },
      seed: "imageGenerationConfig.seed",
    },
    arrange({ text, negativeText, images, textToImageParams, imageVariationParams, ...rest }) {
      const words = { text, ...(negativeText === undefined ? {} : { negativeText }) };
      if (!Array.isArray(images)) {
        return {
          ...{ taskType: "TEXT_IMAGE", ...rest },
          textToImageParams: { ...(textToImageParams as object), ...words },
        };
      }
      const bytes = images.map((image) => readDataUri(image).data);
      return {
        ...{ taskType: "IMAGE_VARIATION", ...rest },
        imageVariationParams: { ...(imageVariationParams as object), ...words, images: bytes },
      };
    },
    outputs: ["images.*"],
    // If only some were withheld, the others are there.
    withheld: { at: ["error"], words: /content filters/ },
  },
};

/** Images of Amazon and Stability by Bedrock's `InvokeModel`. */
export const bedrockMedia: MediaVendor = {
  makes: amazon,
  families: [
    { models: /\bstability\.sd3/, makes: stableDiffusion },
    { models: /\bstability\./, makes: stability },
  ],
  ownErrorHeader: "x-amzn-errortype",
};

type BedrockOptions = Pick<MediaClientOptions, "headers" | "connectionsMax"> & {
  baseUrl: string;
  account: AwsAccount;
  clock: Clock;
};

export function createBedrockGeneration({ baseUrl, account, clock, ...options }: BedrockOptions): GenerationProvider {
  const { origin, pathOf } = readBaseUrl(baseUrl);
  const access = createAwsAccess({ clock, account });
  const auth = createBedrockSigner(access, { clock, account });
  const generation = createInstantGeneration({
    ...{ vendor: bedrockMedia, clock, client: createMediaClient({ ...options, origin, auth }) },
    place: (path, { model = "" }) => pathOf(placeModel(path, model)),
  });
  return {
    ...generation,
    async submit(call) {
      try {
        return await generation.submit(call);
      } catch (error) {
        access.forgetRefused(error, call.apiKey);
        throw error;
      }
    },
  };
}

/** A model may be an ARN, whose slashes are part of its name. */
export function placeModel(path: string, upstreamModel: string): string {
  return path.replace("{model}", () => encodeURIComponent(upstreamModel));
}

/** An invocation that Bedrock refuses before the model runs, so that it costs nothing. */
export const emptyInvocation = { path: invocation.path, body: "{}" };

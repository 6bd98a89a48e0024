import { Type } from "typebox";
import { bare, bearer, oneOf, picture, type SubmissionWire, strict, type WireReply } from "./queue-wire.ts";

const base64 = Type.String({ pattern: "^[A-Za-z0-9+/]+=*$" });
const words = Type.String({ minLength: 1, maxLength: 1024 });
const side = Type.Integer({ minimum: 320, maximum: 4096, multipleOf: 16 });
const config = {
  ...{ width: side, height: side, quality: oneOf("standard", "premium") },
  cfgScale: Type.Number({ minimum: 1.1, maximum: 10 }),
  seed: Type.Integer({ minimum: 0, maximum: 858_993_459 }),
  numberOfImages: Type.Integer({ minimum: 1, maximum: 5 }),
};
const amazonBody = Type.Union([
  strict(
    {
      taskType: oneOf("TEXT_IMAGE"),
      textToImageParams: strict({ text: words }, { negativeText: words, style: oneOf("PHOTOREALISM") }),
    },
    { imageGenerationConfig: strict({}, config) },
  ),
  strict(
    {
      taskType: oneOf("IMAGE_VARIATION"),
      imageVariationParams: strict(
        { images: Type.Array(base64, { minItems: 1, maxItems: 5 }) },
        { text: words, negativeText: words, similarityStrength: Type.Number({ minimum: 0.2, maximum: 1 }) },
      ),
    },
    { imageGenerationConfig: strict({}, config) },
  ),
]);

const prompt = Type.String({ maxLength: 10_000 });
const stabilityFields = {
  ...{ negative_prompt: prompt, seed: Type.Integer({ minimum: 0, maximum: 4_294_967_294 }) },
  output_format: oneOf("jpeg", "png"),
};
const ratio = oneOf("16:9", "1:1", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21");
const shaped = strict({ prompt }, { ...stabilityFields, aspect_ratio: ratio, mode: oneOf("text-to-image") });
const changed = strict(
  { prompt, image: base64, mode: oneOf("image-to-image"), strength: Type.Number({ minimum: 0, maximum: 1 }) },
  stabilityFields,
);

const amazonReply = {
  done: { images: ["{bytes}"], error: null },
  refused: { images: [], error: "All of the generated images have been blocked by our content filters." },
};
const stabilityReply = {
  done: { seeds: [2130420379], finish_reasons: [null], images: ["{bytes}"] },
  refused: { finish_reasons: ["Filter reason: prompt"] },
};

const pathOf = (model: string): string => `/model/${encodeURIComponent(model)}/invoke`;
const canvas = "amazon.nova-canvas-v1:0";
const titan = "amazon.titan-image-generator-v2:0";
const diffusion = "stability.sd3-5-large-v1:0";
const core = "stability.stable-image-core-v1:1";
/** A model may be named by its ARN. */
const ultra = "arn:aws:bedrock:us-west-2::foundation-model/stability.stable-image-ultra-v1:1";

/** An error of AWS: its type is in a header. */
function describeAwsError(status: number, type: string, message: string): WireReply {
  return [status, { message }, { "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` }];
}

/** The vendor's client is driven in `vendor-sdks.test.ts` against the fake that checks signatures. */
export const bedrockMediaWire: SubmissionWire = {
  source: {
    documentation: "https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html",
    sdk: "@aws-sdk/client-bedrock-runtime",
  },
  base: "",
  model: canvas,
  headers: bearer,
  accepts: {
    [pathOf(canvas)]: amazonBody,
    [pathOf(titan)]: amazonBody,
    [pathOf(diffusion)]: Type.Union([shaped, changed]),
    [pathOf(core)]: shaped,
    [pathOf(ultra)]: shaped,
  },
  examples: [
    {
      request: { ...picture, count: 2, options: { quality: "premium", seed: 7, negative_prompt: "people" } },
      route: { parameters: { textToImageParams: { style: "PHOTOREALISM" } } },
      path: pathOf(canvas),
      body: {
        taskType: "TEXT_IMAGE",
        textToImageParams: { style: "PHOTOREALISM", text: "A barn", negativeText: "people" },
        imageGenerationConfig: { numberOfImages: 2, width: 1024, height: 1024, quality: "premium", seed: 7 },
      },
      reply: amazonReply,
    },
    {
      request: picture,
      inputs: ["image", "image"],
      route: { parameters: { imageVariationParams: { similarityStrength: 0.8 } } },
      path: pathOf(canvas),
      body: {
        taskType: "IMAGE_VARIATION",
        imageVariationParams: { similarityStrength: 0.8, text: "A barn", images: [bare, bare] },
        imageGenerationConfig: { numberOfImages: 1, width: 1024, height: 1024 },
      },
      reply: amazonReply,
    },
    {
      model: titan,
      request: { ...picture, options: { quality: "standard" } },
      path: pathOf(titan),
      body: {
        taskType: "TEXT_IMAGE",
        textToImageParams: { text: "A barn" },
        imageGenerationConfig: { numberOfImages: 1, width: 1024, height: 1024, quality: "standard" },
      },
      reply: amazonReply,
    },
    {
      model: diffusion,
      request: { ...picture, width: 1344, height: 768, options: { seed: 7, negative_prompt: "people" } },
      path: pathOf(diffusion),
      body: { prompt: "A barn", aspect_ratio: "16:9", seed: 7, negative_prompt: "people" },
      reply: stabilityReply,
    },
    {
      model: diffusion,
      request: picture,
      inputs: ["image"],
      route: { parameters: { strength: 0.4 } },
      path: pathOf(diffusion),
      body: { mode: "image-to-image", strength: 0.4, prompt: "A barn", image: bare },
      reply: { ...stabilityReply, refused: { finish_reasons: ["Filter reason: input image"] } },
    },
    {
      model: core,
      request: { ...picture, width: 640, height: 1536 },
      path: pathOf(core),
      body: { prompt: "A barn", aspect_ratio: "9:21" },
      reply: stabilityReply,
    },
    {
      model: ultra,
      request: { ...picture, options: { seed: 7 } },
      path: pathOf(ultra),
      body: { prompt: "A barn", aspect_ratio: "1:1", seed: 7 },
      reply: { ...stabilityReply, refused: { finish_reasons: ["Filter reason: output image"] } },
    },
  ],
  refusals: {
    key: describeAwsError(
      403,
      "AccessDeniedException",
      "Authentication failed: Please make sure your API Key is valid.",
    ),
    credit: describeAwsError(
      403,
      "AccessDeniedException",
      "Model access is denied due to INVALID_PAYMENT_INSTRUMENT:A valid payment instrument must be provided. Your AWS Marketplace subscription for this model cannot be completed at this time.",
    ),
    rate: describeAwsError(429, "ThrottlingException", "Too many requests, please wait before trying again."),
    invalid: describeAwsError(
      400,
      "ValidationException",
      "Malformed input request: #/imageGenerationConfig/width: 100 is not greater or equal to 320, please reformat your input and try again.",
    ),
    content: describeAwsError(
      400,
      "ValidationException",
      "This request has been blocked by our content filters. Please adjust your text prompt to submit a new request.",
    ),
    model: describeAwsError(400, "ValidationException", "The provided model identifier is invalid."),
  },
};

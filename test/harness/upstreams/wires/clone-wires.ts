import { Type } from "typebox";
import { bearer, oneOf, seed, strict, text } from "./queue-wire.ts";
import type { SpeechWire } from "./speech-wires.ts";

/** What a vendor with OpenAI's API for images takes of it. It refuses the rest. */
export type CloneWire = Pick<SpeechWire, "source" | "base" | "headers" | "accepts"> & {
  /** The reply, with an image in base64. */
  present(image: string): unknown;
  invalid: readonly [status: number, body: unknown];
};

const count = Type.Integer({ minimum: 1, maximum: 10 });
const side = Type.Integer({ minimum: 64, maximum: 2048 });

/** By the id of the provider on the vendor's page. */
export const cloneWires: Record<string, CloneWire> = {
  together: {
    source: { documentation: "https://docs.together.ai/reference/post-images-generations" },
    base: "/v1",
    headers: bearer,
    accepts: {
      "/v1/images/generations": {
        body: strict(
          { model: text, prompt: text },
          {
            ...{ n: count, width: side, height: side, seed, negative_prompt: text, image_url: text },
            ...{ steps: Type.Integer(), guidance_scale: Type.Number(), disable_safety_checker: Type.Boolean() },
            response_format: oneOf("url", "base64"),
            output_format: oneOf("jpeg", "png"),
          },
        ),
      },
    },
    present: (image) => ({
      id: "r",
      model: "m",
      object: "list",
      data: [{ index: 0, type: "b64_json", b64_json: image }],
    }),
    invalid: [400, { error: { message: "size is not supported", type: "invalid_request_error", param: "size" } }],
  },
  deepinfra: {
    source: { documentation: "https://deepinfra.com/docs/openai_api" },
    base: "/v1/openai",
    headers: bearer,
    accepts: {
      "/v1/openai/images/generations": {
        body: strict(
          { model: text, prompt: text },
          {
            ...{ n: count, size: Type.String({ pattern: "^\\d+x\\d+$" }), quality: text, style: text, user: text },
            response_format: oneOf("b64_json"),
          },
        ),
      },
    },
    present: (image) => ({ created: 1, data: [{ b64_json: image }] }),
    invalid: [
      422,
      { detail: [{ loc: ["body", "seed"], msg: "Extra inputs are not permitted", type: "extra_forbidden" }] },
    ],
  },
};

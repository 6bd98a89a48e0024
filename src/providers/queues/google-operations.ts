import { asRecord } from "../openai-compatible/json-value.ts";
import type { FieldRules } from "../route-terms.ts";
import type { QueueProduct, QueueVendor } from "./queue-vendor.ts";

/** How Google runs a job that takes long, on both of its platforms: an operation that is done one day. */
export const googleOperations = {
  auth: { name: "x-goog-api-key", prefix: "" },
  id: "name",
  failure: { code: "error.code", message: "error.message" },
  kinds: [[/responsible ai|sensitive words|usage guidelines|safety/i, "content-refused"]],
  pollMsMin: 10_000,
} as const satisfies Partial<QueueVendor>;

export const operationWords = { running: "running", done: "done", failed: "failed" } as const;

/** An operation has no word for its state. */
export function readOperation(body: unknown): string | null {
  const operation = asRecord(body);
  if (operation === null) return null;
  if (operation.error !== undefined) return "failed";
  return operation.done === true ? "done" : "running";
}

/** Veo's fields, which are the same on both platforms. */
const veoFields: FieldRules = {
  prompt: "prompt",
  duration: "parameters.durationSeconds",
  aspect_ratio: "parameters.aspectRatio",
  input_images: { field: "image", as: "first" },
  last_image: "lastFrame",
  resolution: "parameters.resolution",
  negative_prompt: "parameters.negativePrompt",
};

/** Veo: the instance and its parameters. A platform may have more fields. */
export function describeVeo(more: FieldRules): Pick<QueueProduct, "fields" | "inline" | "arrange"> {
  return {
    fields: { ...veoFields, ...more },
    inline: "always",
    arrange: ({ prompt, image, lastFrame, ...rest }) => ({
      instances: [
        {
          ...(prompt === undefined ? {} : { prompt }),
          ...(image === undefined ? {} : { image: describeBytes(image) }),
          ...(lastFrame === undefined ? {} : { lastFrame: describeBytes(lastFrame) }),
        },
      ],
      ...rest,
    }),
  };
}

function describeBytes(dataUri: unknown): object {
  const { mimeType, data } = readDataUri(dataUri);
  return { bytesBase64Encoded: data, mimeType };
}

export function readDataUri(dataUri: unknown): { mimeType: string; data: string } {
  const [, mimeType = "", data = ""] = /^data:([^;]*);base64,(.*)$/s.exec(String(dataUri)) ?? [];
  return { mimeType, data };
}

import { type TSchema, Type } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ImageFormat } from "../../../providers/generation.ts";

/** OpenAI's API takes `null` for every option that is left out. */
function option<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

const unheeded = "Accepted; other values than the model's own are told in `warnings`.";

/** The fields that only OpenAI's API has: whoever sends one does not know tasks, and waits for the images. */
export const openAiImageFields = {
  response_format: option(
    Type.Enum(["url", "b64_json"], { description: "How `data` has the images: by links, or the bytes themselves." }),
  ),
  output_format: option(
    Type.Enum(["png", "jpeg", "webp"], { description: "The images' format; the model's own unless told." }),
  ),
  output_compression: option(
    Type.Integer({ minimum: 0, maximum: 100, description: "The quality of `jpeg` and `webp`, in percent." }),
  ),
  quality: option(Type.Enum(["auto", "standard", "hd", "low", "medium", "high"], { description: unheeded })),
  style: option(Type.Enum(["vivid", "natural"], { description: unheeded })),
  moderation: option(Type.Enum(["auto", "low"], { description: unheeded })),
  input_fidelity: option(Type.Enum(["low", "high"], { description: unheeded })),
  background: option(Type.Enum(["auto", "opaque", "transparent"], { description: "`transparent` is refused." })),
  user: option(Type.String({ maxLength: 1024, description: "Accepted." })),
  stream: option(Type.Boolean({ description: "`true` is refused." })),
  partial_images: option(Type.Integer({ minimum: 0, description: "Other than 0 is refused." })),
};

type ImageOptions = {
  response_format?: "url" | "b64_json" | null;
  output_format?: ImageFormat["name"] | null;
  output_compression?: number | null;
  quality?: string | null;
  style?: string | null;
  moderation?: string | null;
  input_fidelity?: string | null;
  background?: string | null;
  stream?: boolean | null;
  partial_images?: number | null;
};

/** Which values of an option that no model here has ask for nothing that would be missed. */
const ownValues = {
  quality: ["auto", "standard", "medium"],
  style: ["vivid"],
  moderation: ["auto"],
  input_fidelity: ["low"],
} as const satisfies Partial<Record<keyof ImageOptions, readonly string[]>>;

/** How a caller who knows no tasks wants the images; `null` for one who knows them. */
export function findInlineForm(
  body: ImageOptions,
  headers: Record<string, unknown>,
): NonNullable<ImageOptions["response_format"]> | null {
  const isOpenAi =
    headers["x-stainless-lang"] !== undefined || Object.keys(openAiImageFields).some((name) => name in body);
  return isOpenAi ? (body.response_format ?? "url") : null;
}

/** What the options come to: the format that was asked for, and the fields that the model does not heed. */
export function checkImageOptions(body: ImageOptions): { format?: ImageFormat; unheeded?: string[] } {
  if (body.stream === true) refuse("stream", "Images are not streamed: leave out `stream`.");
  if ((body.partial_images ?? 0) > 0) refuse("partial_images", "Images are not streamed: leave out `partial_images`.");
  if (body.background === "transparent") {
    refuse("background", "No model here draws on a transparent background: leave out `background`, or send `auto`.");
  }
  const unheeded = (Object.keys(ownValues) as (keyof typeof ownValues)[]).filter((name) => {
    const value = body[name] ?? null;
    return value !== null && !(ownValues[name] as readonly string[]).includes(value);
  });
  return { ...readFormat(body), ...(unheeded.length === 0 ? {} : { unheeded }) };
}

function readFormat({ output_format: name, output_compression: quality }: ImageOptions): { format?: ImageFormat } {
  const isCompressed = (quality ?? 100) < 100;
  if (isCompressed && name !== "jpeg" && name !== "webp") {
    const message = "`output_compression` below 100 needs the `output_format` `jpeg` or `webp`.";
    throw new AppError("invalid_parameter", message, { param: "output_compression" });
  }
  if ((name ?? null) === null) return {};
  return { format: { name: name as ImageFormat["name"], ...(isCompressed ? { quality: quality as number } : {}) } };
}

function refuse(param: string, message: string): never {
  throw new AppError("unsupported_capability", message, { param });
}

import { type TSchema, Type } from "typebox";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { ImageFormat } from "../../../providers/generation.ts";
import { describeOption } from "../../../providers/media-options.ts";

/** OpenAI's API accepts `null` for every omitted option. */
function option<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/**
 * The fields that only OpenAI's API has. A request with one of them comes from an OpenAI client, and waits for the
 * images.
 */
export const openAiImageFields = {
  response_format: option(
    Type.Enum(["url", "b64_json"], { description: "Whether `data` contains links or the images themselves." }),
  ),
  output_format: option(
    Type.Enum(["png", "jpeg", "webp"], { description: "The image format. Default: the model's own." }),
  ),
  output_compression: option(
    Type.Integer({ minimum: 0, maximum: 100, description: "The quality of `jpeg` and `webp`, in percent." }),
  ),
  quality: option(describeOption("quality")),
  style: option(describeOption("style")),
  moderation: option(describeOption("moderation")),
  input_fidelity: option(describeOption("input_fidelity")),
  background: option(describeOption("background")),
  user: option(Type.String({ maxLength: 1024, description: "Accepted." })),
  stream: option(Type.Boolean({ description: "`true` is rejected." })),
  partial_images: option(Type.Integer({ minimum: 0, description: "Values above 0 are rejected." })),
};

type ImageOptions = {
  response_format?: InlineForm | null;
  output_format?: ImageFormat["name"] | null;
  output_compression?: number | null;
  background?: string | null;
  stream?: boolean | null;
  partial_images?: number | null;
};

export type InlineForm = "url" | "b64_json";

/** Clients of OpenAI's API by their `User-Agent`, and the form that they read unless the request names one. */
const clientTable: readonly { agent: RegExp; form: InlineForm }[] = [
  // The AI SDK reads no links.
  { agent: /(?:^|\s)ai(?:-sdk[\w-]*)?\//, form: "b64_json" },
  { agent: /^OpenAI\//, form: "url" },
  { agent: /(?:^|\s)litellm\//, form: "url" },
  { agent: /^langchain4j-openai\b/, form: "url" },
  { agent: /^spring-ai\b/, form: "url" },
];

/** How an OpenAI client wants the images; `null` for other clients. */
export function findInlineForm(
  body: ImageOptions,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): InlineForm | null {
  const agent = String(headers["user-agent"] ?? "");
  const client = clientTable.find((known) => known.agent.test(agent));
  const isOpenAi =
    client !== undefined ||
    headers["x-stainless-lang"] !== undefined ||
    Object.keys(openAiImageFields).some((name) => name in body);
  return isOpenAi ? (body.response_format ?? client?.form ?? "url") : null;
}

/** The requested format. */
export function checkImageOptions(body: ImageOptions): { format?: ImageFormat } {
  if (body.stream === true) refuse("stream", "Images cannot be streamed. Remove `stream`.");
  if ((body.partial_images ?? 0) > 0) refuse("partial_images", "Images cannot be streamed. Remove `partial_images`.");
  if (body.background === "transparent" && body.output_format === "jpeg") {
    refuse("output_format", "A JPEG cannot be transparent. Send `output_format` `png` or `webp`.");
  }
  return readFormat(body);
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

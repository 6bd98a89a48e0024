import { type Static, Type } from "typebox";
import { optionLimits } from "../../providers/media-options.ts";
import type { OfferedModel } from "./catalog-view.ts";
import { capabilities, modelStatuses, modelTypes } from "./model.ts";
import { presentLogo } from "./model-logos.ts";

const modelFields = {
  id: Type.String({ description: "Stable. Pass it as `model`." }),
  aliases: Type.Optional(Type.Array(Type.String(), { description: "Other names that you can pass as `model`." })),
  object: Type.Literal("model"),
  created: Type.Integer({ description: "Unix time in seconds." }),
  owned_by: Type.String(),
  name: Type.String(),
  type: Type.Enum([...modelTypes]),
  logo: Type.String({ format: "uri", description: "URL of an image." }),
  description: Type.String(),
  advantages: Type.Array(Type.String()),
  scenarios: Type.Array(Type.String()),
  status: Type.Enum([...modelStatuses], {
    description: "A `deprecated` model works until `shutdown_date`. An `unavailable` model can't be called now.",
  }),
  capabilities: Type.Array(Type.Enum([...capabilities])),
  shutdown_date: Type.Optional(Type.String({ format: "date-time" })),
};

const modelSchema = Type.Object(modelFields);

export const modelDetailSchema = Type.Object({
  ...modelFields,
  limits: Type.Object(
    {
      durations: Type.Optional(
        Type.Array(Type.Integer(), {
          description: "Seconds. For avatars and dramas, the maximum length of the video.",
        }),
      ),
      aspect_ratios: Type.Optional(Type.Array(Type.String(), { examples: [["16:9", "9:16", "1:1"]] })),
      max_prompt_length: Type.Optional(Type.Integer({ description: "Characters." })),
      sizes: Type.Optional(Type.Array(Type.String(), { examples: [["1024x1024"]] })),
      max_n: Type.Optional(Type.Integer()),
      max_input_images: Type.Optional(Type.Integer()),
      voices: Type.Optional(Type.Array(Type.String())),
      response_formats: Type.Optional(Type.Array(Type.String())),
      context_window: Type.Optional(Type.Integer({ description: "Tokens." })),
      max_output_tokens: Type.Optional(Type.Integer({ description: "Tokens." })),
      max_inputs: Type.Optional(Type.Integer({ description: "Maximum number of texts per call." })),
      max_dimensions: Type.Optional(
        Type.Integer({ description: "Length of a vector unless the call sets `dimensions`." }),
      ),
      max_audio_seconds: Type.Optional(Type.Integer({ description: "Maximum length of a recording, in seconds." })),
      max_file_bytes: Type.Optional(Type.Integer({ description: "Maximum size of a file, in bytes." })),
      last_image: Type.Optional(Type.Literal(true, { description: "The last frame of a video can be given." })),
      ...optionLimits,
    },
    { description: "Limits of a call. Only those that apply to the model are present." },
  ),
});

export const modelListSchema = Type.Object(
  { object: Type.Literal("list"), data: Type.Array(modelSchema) },
  { description: "The models that your account may use." },
);

export const modelFilterSchema = Type.Object(
  {
    type: Type.Optional(Type.Enum([...modelTypes])),
    capability: Type.Optional(Type.Enum([...capabilities])),
    status: Type.Optional(Type.Enum([...modelStatuses])),
  },
  { additionalProperties: false },
);

export function presentModelList(models: readonly OfferedModel[], siteUrl: string): Static<typeof modelListSchema> {
  return { object: "list", data: models.map((offered) => presentModel(offered, siteUrl)) };
}

export function presentModelDetail(offered: OfferedModel, siteUrl: string): Static<typeof modelDetailSchema> {
  return { ...presentModel(offered, siteUrl), limits: offered.model.limits };
}

function presentModel({ model, status }: OfferedModel, siteUrl: string): Static<typeof modelSchema> {
  return {
    id: model.id,
    ...(model.aliases === undefined ? {} : { aliases: model.aliases }),
    object: "model",
    created: Math.floor(Date.parse(model.created_at) / 1000),
    owned_by: "sluice",
    name: model.name,
    type: model.type,
    logo: presentLogo(model, siteUrl),
    description: model.description,
    advantages: model.advantages,
    scenarios: model.scenarios,
    status,
    capabilities: model.capabilities,
    ...(model.shutdown_date === undefined ? {} : { shutdown_date: model.shutdown_date }),
  };
}

import { type TArray, type TLiteral, type TOptional, type TSchema, Type } from "typebox";

type MediaType = "image" | "video" | "avatar" | "speech";

/**
 * The optional fields of media requests. A model offers a field under the same name in its `limits`: a list of values,
 * of which the first is the default, or `true` for any value.
 */
export const mediaOptions = {
  resolution: choice(["image", "video", "avatar"], Type.String({ maxLength: 32 }), "The resolution, such as `1080p`."),
  quality: choice(["image", "video"], Type.String({ maxLength: 32 }), "The quality, such as `high`."),
  style: choice(["image", "video"], Type.String({ maxLength: 64 }), "The style."),
  background: choice(["image"], Type.String({ maxLength: 32 }), "The background: `opaque` or `transparent`."),
  moderation: choice(["image"], Type.String({ maxLength: 32 }), "How strictly the upstream filters content."),
  input_fidelity: choice(["image"], Type.String({ maxLength: 32 }), "How closely to follow the input images."),
  frame_rate: choice(["video"], Type.Integer({ minimum: 1, maximum: 240 }), "Frames per second."),
  audio: choice(["video"], Type.Boolean(), "Whether the video has sound."),
  seed: free(
    ["image", "video", "avatar"],
    Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
    "The same seed and request give similar results.",
  ),
  negative_prompt: free(
    ["image", "video"],
    Type.String({ minLength: 1, maxLength: 10_000 }),
    "What the result must not show.",
  ),
  prompt: free(["avatar"], Type.String({ minLength: 1, maxLength: 10_000 }), "How the person acts."),
  instructions: free(["speech"], Type.String({ minLength: 1, maxLength: 1000 }), "How to speak. Not charged."),
} as const satisfies Record<string, MediaOption>;

type MediaOption = {
  types: readonly MediaType[];
  /** `list`: the model lists the values. `any`: the model takes any value of the schema. */
  offer: "list" | "any";
  schema: TSchema;
  description: string;
};

export type MediaOptionName = keyof typeof mediaOptions;
const mediaOptionNames = Object.keys(mediaOptions) as MediaOptionName[];

export type OptionValue = string | number | boolean;
/** The options of a request, with the model's defaults. */
export type OptionValues = Readonly<Partial<Record<MediaOptionName, OptionValue>>>;

/** What a model offers: the values of a list, or `true`. */
export type OfferedOptions = {
  [N in MediaOptionName]?: (typeof mediaOptions)[N]["offer"] extends "list" ? OptionValue[] : true;
};

function choice<T extends TSchema>(types: readonly MediaType[], schema: T, description: string) {
  return { types, offer: "list" as const, schema, description };
}

function free<T extends TSchema>(types: readonly MediaType[], schema: T, description: string) {
  return { types, offer: "any" as const, schema, description };
}

export function listOptionNames(type: MediaType): MediaOptionName[] {
  return mediaOptionNames.filter((name) => (mediaOptions[name].types as readonly MediaType[]).includes(type));
}

type OptionFields<N extends MediaOptionName> = { [K in N]: TOptional<(typeof mediaOptions)[K]["schema"]> };

/** The fields of these options in a request. */
export function describeOptions<N extends MediaOptionName>(...names: N[]): OptionFields<N> {
  return Object.fromEntries(
    names.map((name) => [name, Type.Optional(describeOption(name))]),
  ) as unknown as OptionFields<N>;
}

export function describeOption<N extends MediaOptionName>(name: N): (typeof mediaOptions)[N]["schema"] {
  const { schema, offer, description } = mediaOptions[name];
  const values = offer === "list" ? ` One of the model's \`limits.${name}\`. Default: the first.` : "";
  return Type.Unsafe({
    ...schema,
    description: `${description}${values} Only for models whose \`limits\` have \`${name}\`.`,
  }) as unknown as (typeof mediaOptions)[N]["schema"];
}

const offeredValue = Type.Union([Type.String({ minLength: 1 }), Type.Number(), Type.Boolean()]);

/** The fields of all options in a model's `limits`. */
export const optionLimits = Object.fromEntries(
  mediaOptionNames.map((name) => {
    const { offer, description } = mediaOptions[name];
    const schema =
      offer === "list" ? Type.Array(offeredValue, { minItems: 1, description }) : Type.Literal(true, { description });
    return [name, Type.Optional(schema)];
  }),
) as unknown as {
  [N in MediaOptionName]: TOptional<(typeof mediaOptions)[N]["offer"] extends "list" ? OfferedList : TLiteral<true>>;
};

type OfferedList = TArray<typeof offeredValue>;

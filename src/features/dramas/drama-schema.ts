import { type Static, Type } from "typebox";
import { dramaStages } from "../catalog/index.ts";
import { commonFields } from "../tasks/index.ts";
import {
  rolesDocumentSchema,
  rolesMax,
  scriptDocumentSchema,
  seedMax,
  storyboardDocumentSchema,
  styleCharactersMax,
} from "./drama-documents.ts";
import { subtitleModes } from "./film/film-order.ts";

const closed = { additionalProperties: false } as const;

const documentSchema = Type.Unsafe<
  Static<typeof scriptDocumentSchema> | Static<typeof rolesDocumentSchema> | Static<typeof storyboardDocumentSchema>
>({
  type: "object",
  discriminator: { propertyName: "object" },
  oneOf: [scriptDocumentSchema, rolesDocumentSchema, storyboardDocumentSchema],
});

const characterSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: "As in the script." }),
    reference_file_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "An uploaded image that shows the character." }),
    ),
  },
  closed,
);

export const dramaRequestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 128, description: "An id from the model list." }),
    title: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "Shown on the title card. Required with a text." }),
    ),
    script: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), documentSchema], {
        description: `A story, an outline or a finished screenplay, in any language. Or a document of an earlier stage, changed or not, as
an object or as text: the drama resumes from it. Required unless you send \`from_task_id\`.`,
      }),
    ),
    stage: Type.Optional(
      Type.Enum([...dramaStages], { description: "The last stage: a document, or the video (default)." }),
    ),
    characters: Type.Optional(Type.Array(characterSchema, { maxItems: rolesMax })),
    episode: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: "Default: 1." })),
    aspect_ratio: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 16,
        description: "One of the model's `limits.aspect_ratios`. Default: the first.",
      }),
    ),
    client_business_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: `Your own id for this job. Retries of the same request with the same id, stage and episode return the same
task; after a task that failed, a new one runs.`,
      }),
    ),
    from_task_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "An earlier drama of yours to resume from. Send a changed document as `script`.",
      }),
    ),
    allow_partial: Type.Optional(
      Type.Boolean({
        description: "Whether the video may omit shots that failed. Default: `false`.",
      }),
    ),
    style: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: styleCharactersMax,
        description: "The look of all shots, such as `watercolour, muted colours, soft light`. Part of every prompt.",
      }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: seedMax,
        description: `Sent with every image and clip whose model offers \`seed\`. Default: one for each drama. Only for models with a stage
model that offers it.`,
      }),
    ),
    subtitles: Type.Optional(
      Type.Enum([...subtitleModes], {
        description: `\`burned\` draws captions into the video, \`track\` adds a text track that players can switch off, \`none\` does
neither. The subtitle file is always an output. Default: \`burned\`.`,
      }),
    ),
    ...commonFields("drama"),
  },
  {
    ...closed,
    examples: [
      {
        model: "sandbox-drama",
        title: "The Lighthouse",
        script: "INT. LIGHTHOUSE - NIGHT\n\nANNA\nThe lamp is out. Somebody has to climb up.",
        characters: [{ name: "Anna", reference_file_id: "file_…" }],
        episode: 1,
        aspect_ratio: "16:9",
      },
    ],
  },
);

export const reshootRequestSchema = Type.Object(
  {
    prompt: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4000,
        description: "What the shot shows instead. It then starts with a new image. Default: as in the storyboard.",
      }),
    ),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: seedMax,
        description: `The seed of this shot, for models that offer \`seed\`. Default: a new one, or the drama's own with a new \`prompt\`.`,
      }),
    ),
    ...commonFields("drama"),
  },
  { ...closed, examples: [{ prompt: "The lamp flickers and goes out. Anna looks up." }] },
);

export type ReshootBody = Static<typeof reshootRequestSchema>;
export type DramaBody = Static<typeof dramaRequestSchema>;

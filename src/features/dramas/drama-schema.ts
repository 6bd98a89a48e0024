import { type Static, Type } from "typebox";
import { dramaStages } from "../catalog/index.ts";
import { commonFields } from "../tasks/index.ts";
import { rolesDocumentSchema, rolesMax, scriptDocumentSchema, storyboardDocumentSchema } from "./drama-documents.ts";

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
    name: Type.String({ minLength: 1, maxLength: 100, description: "As the script has it." }),
    reference_file_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "An uploaded image of them: they look like this." }),
    ),
  },
  closed,
);

export const dramaRequestSchema = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 128, description: "An id from the model list." }),
    title: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "As it stands on the title card. Needed with a text." }),
    ),
    script: Type.Optional(
      Type.Union([Type.String({ minLength: 1 }), documentSchema], {
        description: `A story, an outline or a finished screenplay, in any language. Or a document that an earlier stage made,
maybe changed, as it is or as text: then the drama goes on from there. Needed unless \`from_task_id\` is given.`,
      }),
    ),
    stage: Type.Optional(
      Type.Enum([...dramaStages], { description: "Where it ends: with a document, or with the video (the default)." }),
    ),
    characters: Type.Optional(Type.Array(characterSchema, { maxItems: rolesMax })),
    episode: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description: "1 unless told." })),
    aspect_ratio: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 16,
        description: "One of the model's `limits.aspect_ratios`; the first of them unless told.",
      }),
    ),
    client_business_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: `What you call this piece of business. The same request with the same id, stage and episode is the same
task, however often it is sent; after a task that came to nothing, a new one runs.`,
      }),
    ),
    from_task_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          "An earlier drama of yours: this one goes on from what it made. A changed document goes into `script`.",
      }),
    ),
    allow_partial: Type.Optional(
      Type.Boolean({
        description: "Whether a video may go without shots that could not be made. `false` unless told.",
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

export type DramaBody = Static<typeof dramaRequestSchema>;

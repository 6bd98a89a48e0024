import { type Static, Type } from "typebox";

/**
 * The documents between a drama's stages. Clients may read, change and resend them. Each contains everything that the
 * later stages need, so that one document is enough to resume.
 */

const closed = { additionalProperties: false } as const;
export const scenesMax = 60;
export const linesMax = 300;
export const shotsMax = 80;
export const rolesMax = 40;
export const shotSecondsMax = 30;

const title = Type.String({ minLength: 1, maxLength: 200, description: "Shown on the title card." });
const episode = Type.Integer({ minimum: 1, maximum: 100_000 });
const language = Type.String({
  minLength: 2,
  maxLength: 35,
  description: "The spoken language, such as `en` or `zh`.",
});
const name = Type.String({ minLength: 1, maxLength: 100 });
const sentence = Type.String({ maxLength: 2000 });

const lineSchema = Type.Object(
  {
    speaker: Type.Union([name, Type.Null()], { description: "The role that speaks; `null` for the narrator." }),
    text: Type.String({ minLength: 1, maxLength: 2000, description: "The spoken words only." }),
  },
  closed,
);

const sceneSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 40 }),
    heading: Type.String({ maxLength: 300, description: "A scene heading, such as `INT. KITCHEN – NIGHT`." }),
    place: sentence,
    time: Type.String({ maxLength: 100, description: "The time of day." }),
    action: Type.String({ maxLength: 4000, description: "The visible action." }),
    lines: Type.Array(lineSchema, { maxItems: linesMax }),
  },
  closed,
);

export const scriptDocumentSchema = Type.Object(
  {
    object: Type.Literal("drama.script"),
    title,
    episode,
    language,
    logline: sentence,
    scenes: Type.Array(sceneSchema, { minItems: 1, maxItems: scenesMax }),
  },
  { ...closed, title: "DramaScript", description: "A screenplay: scenes with action and dialogue." },
);

export const seedMax = 2_147_483_647;
export const styleCharactersMax = 500;

const roleSchema = Type.Object(
  {
    name,
    description: Type.String({ maxLength: 2000, description: "The character and its motives." }),
    appearance: Type.String({ maxLength: 2000, description: "The character's looks, for image models." }),
    voice: Type.String({ minLength: 1, maxLength: 128, description: "One of the model's voices." }),
    reference_file_id: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()], {
      description: "A reference image, used in every shot with this role.",
    }),
  },
  closed,
);

const cast = {
  narrator_voice: Type.String({ minLength: 1, maxLength: 128 }),
  roles: Type.Array(roleSchema, { maxItems: rolesMax }),
};

export const rolesDocumentSchema = Type.Object(
  { object: Type.Literal("drama.roles"), script: scriptDocumentSchema, ...cast },
  { ...closed, title: "DramaRoles", description: "The roles of a script: their appearance and voices." },
);

const shotSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 40 }),
    scene: Type.String({ minLength: 1, maxLength: 40, description: "The id of its scene." }),
    prompt: Type.String({ minLength: 1, maxLength: 4000, description: "What the image shows." }),
    camera: Type.String({ maxLength: 300, description: "Such as `close-up, slowly moving in`." }),
    duration: Type.Number({
      minimum: 1,
      maximum: shotSecondsMax,
      description: "Planned length in seconds; longer if its lines take longer.",
    }),
    characters: Type.Array(name, { maxItems: 8, description: "The visible roles." }),
    lines: Type.Array(lineSchema, { maxItems: 20 }),
    image_file_id: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()], {
      description: "The image that the shot starts with.",
    }),
  },
  closed,
);

export const storyboardDocumentSchema = Type.Object(
  {
    object: Type.Literal("drama.storyboard"),
    title,
    episode,
    language,
    aspect_ratio: Type.String({ minLength: 1, maxLength: 16 }),
    style: Type.Optional(
      Type.String({ minLength: 1, maxLength: styleCharactersMax, description: "The look of all shots." }),
    ),
    seed: Type.Optional(
      Type.Integer({ minimum: 0, maximum: seedMax, description: "The seed of all images and clips." }),
    ),
    ...cast,
    shots: Type.Array(shotSchema, { minItems: 1, maxItems: shotsMax }),
  },
  { ...closed, title: "DramaStoryboard", description: "A video, shot by shot, before it is generated." },
);

export type ScriptDocument = Static<typeof scriptDocumentSchema>;
export type RolesDocument = Static<typeof rolesDocumentSchema>;
export type StoryboardDocument = Static<typeof storyboardDocumentSchema>;
export type DramaDocument = ScriptDocument | RolesDocument | StoryboardDocument;
/** What all shots have in common, so that they look like one film. */
export type Look = Pick<StoryboardDocument, "style" | "seed">;
export type Line = Static<typeof lineSchema>;
export type Role = Static<typeof roleSchema>;
export type Shot = Static<typeof shotSchema>;

import { type Static, Type } from "typebox";

/**
 * What the stages of a drama hand to each other: documents that clients may read, change and pass back in. Each has all
 * that the stages after it need, so that one document is always enough to go on from.
 */

const closed = { additionalProperties: false } as const;
export const scenesMax = 60;
export const linesMax = 300;
export const shotsMax = 80;
export const rolesMax = 40;
export const shotSecondsMax = 30;

const title = Type.String({ minLength: 1, maxLength: 200, description: "As it stands on the title card." });
const episode = Type.Integer({ minimum: 1, maximum: 100_000 });
const language = Type.String({ minLength: 2, maxLength: 35, description: "Of what is said, as in `en` or `zh`." });
const name = Type.String({ minLength: 1, maxLength: 100 });
const sentence = Type.String({ maxLength: 2000 });

const lineSchema = Type.Object(
  {
    speaker: Type.Union([name, Type.Null()], { description: "The role that says it; `null` for the narrator." }),
    text: Type.String({ minLength: 1, maxLength: 2000, description: "What is said, and nothing else." }),
  },
  closed,
);

const sceneSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 40 }),
    heading: Type.String({ maxLength: 300, description: "As in a screenplay: `INT. KITCHEN – NIGHT`." }),
    place: sentence,
    time: Type.String({ maxLength: 100, description: "Of the day." }),
    action: Type.String({ maxLength: 4000, description: "What can be seen." }),
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
  { ...closed, title: "DramaScript", description: "A screenplay: scenes with what can be seen and what is said." },
);

const roleSchema = Type.Object(
  {
    name,
    description: Type.String({ maxLength: 2000, description: "Who it is, and what moves them." }),
    appearance: Type.String({ maxLength: 2000, description: "What they look like, for whoever draws them." }),
    voice: Type.String({ minLength: 1, maxLength: 128, description: "One of the voices of the model." }),
    reference_file_id: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()], {
      description: "An image of them, which every shot they are in is given.",
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
  { ...closed, title: "DramaRoles", description: "Who is in a script: how they look, and how they sound." },
);

const shotSchema = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 40 }),
    scene: Type.String({ minLength: 1, maxLength: 40, description: "The id of the scene that it belongs to." }),
    prompt: Type.String({ minLength: 1, maxLength: 4000, description: "What the image shows." }),
    camera: Type.String({ maxLength: 300, description: "As in `close-up, slowly moving in`." }),
    duration: Type.Number({
      minimum: 1,
      maximum: shotSecondsMax,
      description: "Seconds that it is meant to take; longer where what is said in it takes longer.",
    }),
    characters: Type.Array(name, { maxItems: 8, description: "The roles that can be seen." }),
    lines: Type.Array(lineSchema, { maxItems: 20 }),
    image_file_id: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()], {
      description: "The image that the shot begins with.",
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
    ...cast,
    shots: Type.Array(shotSchema, { minItems: 1, maxItems: shotsMax }),
  },
  { ...closed, title: "DramaStoryboard", description: "A video, shot by shot, before it is made." },
);

export type ScriptDocument = Static<typeof scriptDocumentSchema>;
export type RolesDocument = Static<typeof rolesDocumentSchema>;
export type StoryboardDocument = Static<typeof storyboardDocumentSchema>;
export type DramaDocument = ScriptDocument | RolesDocument | StoryboardDocument;
export type Line = Static<typeof lineSchema>;
export type Role = Static<typeof roleSchema>;
export type Shot = Static<typeof shotSchema>;

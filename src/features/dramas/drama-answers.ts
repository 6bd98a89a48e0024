import { type Static, Type } from "typebox";

/**
 * The parts of a document that a chat model writes; the rest is known or derived. The schemas use only what every
 * vendor's structured output supports: closed objects, all fields required, no limits.
 */

const closed = { additionalProperties: false } as const;

export const scriptAnswerSchema = Type.Object(
  {
    language: Type.String({ description: "Of what is said, as an ISO 639-1 code." }),
    logline: Type.String({ description: "The story in a sentence." }),
    scenes: Type.Array(
      Type.Object(
        {
          heading: Type.String({ description: "As in INT. KITCHEN – NIGHT." }),
          place: Type.String({ description: "Where it is and what is there, in a sentence that can be painted." }),
          time: Type.String({ description: "Of the day." }),
          action: Type.String({ description: "What can be seen to happen, in one to three sentences." }),
          lines: Type.Array(
            Type.Object(
              {
                speaker: Type.Union([Type.String(), Type.Null()], { description: "null for the narrator." }),
                text: Type.String({ description: "What is said, without the speaker's name or directions." }),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const rolesAnswerSchema = Type.Object(
  {
    narrator_voice: Type.String({ description: "One of the given voices." }),
    roles: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: "Exactly as in the script." }),
          description: Type.String({ description: "Who it is, and what moves them." }),
          appearance: Type.String({ description: "Age, build, hair, clothes: the same in every picture." }),
          voice: Type.String({ description: "One of the given voices; each role has its own where there are enough." }),
        },
        closed,
      ),
    ),
  },
  closed,
);

export const storyboardAnswerSchema = Type.Object(
  {
    shots: Type.Array(
      Type.Object(
        {
          scene: Type.String({ description: "The id of the scene." }),
          prompt: Type.String({ description: "What the picture shows: place, light, who does what." }),
          camera: Type.String({ description: "Distance and movement, as in close-up, slowly moving in." }),
          duration: Type.Number({ description: "Seconds." }),
          characters: Type.Array(Type.String(), { description: "Names of the roles that can be seen." }),
          line_numbers: Type.Array(Type.Integer(), { description: "The numbers of the lines that are said in it." }),
        },
        closed,
      ),
    ),
  },
  closed,
);

export type ScriptAnswer = Static<typeof scriptAnswerSchema>;
export type RolesAnswer = Static<typeof rolesAnswerSchema>;
export type StoryboardAnswer = Static<typeof storyboardAnswerSchema>;

/** The facts sent to the model as JSON; together with the schema they are the complete question. */
export type ScriptQuestion = {
  title: string;
  episode: number;
  /** The names given by the caller. */
  characters: readonly string[];
  film_seconds_max: number;
  /** A story, an outline or a screenplay, in any language. */
  script: string;
};

type AskedScene = { id: string; heading: string; place: string; time: string; action: string };

export type RolesQuestion = {
  title: string;
  language: string;
  voices: readonly string[];
  /** The names given by the caller, speaking or not. */
  characters: readonly string[];
  scenes: readonly (AskedScene & { lines: readonly { speaker: string | null; text: string }[] })[];
};

export type StoryboardQuestion = {
  title: string;
  aspect_ratio: string;
  film_seconds_max: number;
  shots_max: number;
  roles: readonly { name: string; appearance: string }[];
  /** Lines are numbered across the whole script. */
  scenes: readonly (AskedScene & { lines: readonly { number: number; speaker: string | null; text: string }[] })[];
};

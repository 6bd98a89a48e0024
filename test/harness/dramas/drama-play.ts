import type { RolesAnswer, ScriptAnswer, StoryboardAnswer } from "../../../src/features/dramas/drama-answers.ts";
import type {
  RolesDocument,
  ScriptDocument,
  StoryboardDocument,
} from "../../../src/features/dramas/drama-documents.ts";

/** A shot as a test writes it: who is visible, and who says what; `null` is the narrator. */
type PlayShot = {
  seen?: readonly string[];
  lines?: readonly (readonly [speaker: string | null, text: string])[];
  seconds?: number;
  prompt?: string;
};

/** Scenes, each of shots. */
export type Play = readonly (readonly PlayShot[])[];

/** The answers of the tests' writers, in the order of the requests. */
export type PlayAnswers = {
  drama_script: ScriptAnswer;
  drama_roles: RolesAnswer;
  drama_storyboard: StoryboardAnswer;
};
export type Question = keyof PlayAnswers;

export const playVoices = ["alloy", "nova", "echo", "onyx"] as const;
export const narratorVoice = "shimmer";

/** A single speaker, the narrator over two visible people, a dialogue, and a silent person. */
export const lighthouse: Play = [
  [
    { seen: ["Anna"], lines: [["Anna", "The lamp is out."]] },
    { seen: ["Anna", "Ben"], lines: [[null, "Nobody had climbed up for years."]] },
  ],
  [
    {
      seen: ["Ben", "Anna"],
      lines: [
        ["Anna", "Somebody has to."],
        ["Ben", "Not alone."],
      ],
    },
    { seen: ["Ben"], seconds: 2 },
  ],
];

/** The shortest: one shot, with one line by a visible speaker. */
export const monologue: Play = [[{ seen: ["Anna"], lines: [["Anna", "Here I am."]] }]];

/** The shortest without speech. */
export const silence: Play = [[{ seen: ["Anna"], seconds: 2 }]];

export function describeAppearance(name: string): string {
  return `${name} wears a long yellow coat`;
}

function listNames(play: Play): string[] {
  const shots = play.flat();
  const speakers = shots.flatMap(({ lines = [] }) => lines.flatMap(([speaker]) => speaker ?? []));
  return [...new Set([...shots.flatMap(({ seen = [] }) => seen), ...speakers])];
}

function describePrompt({ prompt }: PlayShot, number: number): string {
  return prompt ?? `Picture ${number} of a tower by the sea`;
}

export function answerPlay(play: Play): PlayAnswers {
  let lineNumber = 0;
  let shotNumber = 0;
  const shots = play.flatMap((scene, index) =>
    scene.map((shot) => {
      shotNumber += 1;
      return {
        scene: `scene-${index + 1}`,
        prompt: describePrompt(shot, shotNumber),
        camera: "wide",
        duration: shot.seconds ?? 2,
        characters: [...(shot.seen ?? [])],
        line_numbers: (shot.lines ?? []).map(() => {
          lineNumber += 1;
          return lineNumber;
        }),
      };
    }),
  );
  return {
    drama_script: {
      language: "en",
      logline: "A lamp has to be lit.",
      scenes: play.map((scene, index) => ({
        heading: `EXT. TOWER ${index + 1}`,
        place: "A tower by the sea",
        time: "night",
        action: "The waves are high.",
        lines: scene.flatMap(({ lines = [] }) => lines.map(([speaker, text]) => ({ speaker, text }))),
      })),
    },
    drama_roles: {
      narrator_voice: narratorVoice,
      roles: listNames(play).map((name, index) => ({
        name,
        description: `${name} is brave`,
        appearance: describeAppearance(name),
        voice: playVoices[index % playVoices.length] ?? "alloy",
      })),
    },
    drama_storyboard: { shots },
  };
}

/** The documents that result from the answers, for tests that start midway. */
export function writeDocuments(
  play: Play,
  { title = "The Lighthouse", episode = 1 } = {},
): { script: ScriptDocument; roles: RolesDocument; storyboard: StoryboardDocument } {
  const answers = answerPlay(play);
  const head = { title, episode, language: "en" };
  const scenes = answers.drama_script.scenes.map((scene, index) => ({ id: `scene-${index + 1}`, ...scene }));
  const script: ScriptDocument = { object: "drama.script", ...head, logline: answers.drama_script.logline, scenes };
  const cast = {
    narrator_voice: answers.drama_roles.narrator_voice,
    roles: answers.drama_roles.roles.map((role) => ({ ...role, reference_file_id: null })),
  };
  const said = scenes.flatMap(({ lines }) => lines);
  const shots = answers.drama_storyboard.shots.map(({ line_numbers: numbers, ...shot }, index) => ({
    id: `shot-${index + 1}`,
    ...shot,
    lines: numbers.flatMap((number) => said[number - 1] ?? []),
    image_file_id: null,
  }));
  return {
    script,
    roles: { object: "drama.roles", script, ...cast },
    storyboard: { object: "drama.storyboard", ...head, aspect_ratio: "16:9", ...cast, shots },
  };
}

import type {
  RolesDocument,
  ScriptDocument,
  StoryboardDocument,
} from "../../../src/features/dramas/drama-documents.ts";

/** The documents of a small drama's stages, each based on the one before. */
export const sampleScript: ScriptDocument = {
  object: "drama.script",
  title: "The Lighthouse",
  episode: 3,
  language: "en",
  logline: "The lamp goes out.",
  scenes: [
    {
      id: "scene-1",
      heading: "INT. LIGHTHOUSE – NIGHT",
      place: "A round room.",
      time: "night",
      action: "Anna looks up.",
      lines: [
        { speaker: "Anna", text: "The lamp is out." },
        { speaker: null, text: "Nobody moved." },
      ],
    },
    { id: "scene-2", heading: "EXT. CLIFF – DAWN", place: "A cliff.", time: "dawn", action: "Wind.", lines: [] },
  ],
};

export const sampleRoles: RolesDocument = {
  object: "drama.roles",
  script: sampleScript,
  narrator_voice: "onyx",
  roles: [
    { name: "Anna", description: "The keeper.", appearance: "Grey coat.", voice: "nova", reference_file_id: null },
    { name: "Ben", description: "", appearance: "", voice: "echo", reference_file_id: null },
  ],
};

export const sampleStoryboard: StoryboardDocument = {
  object: "drama.storyboard",
  title: "The Lighthouse",
  episode: 3,
  language: "en",
  aspect_ratio: "9:16",
  narrator_voice: "onyx",
  roles: sampleRoles.roles,
  shots: [
    {
      id: "shot-1",
      scene: "scene-1",
      prompt: "A round room at night.",
      camera: "close-up",
      duration: 3,
      characters: ["Anna"],
      lines: [{ speaker: "Anna", text: "The lamp is out." }],
      image_file_id: null,
    },
    {
      id: "shot-2",
      scene: "scene-2",
      prompt: "A cliff at dawn.",
      camera: "wide",
      duration: 4,
      characters: [],
      lines: [],
      image_file_id: null,
    },
  ],
};

/** The first text that PostgreSQL cannot store: with U+0000 or a lone surrogate; `null` if there is none. */
export function findUnkeepable(value: unknown): string | null {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0") ? null : JSON.stringify(value);
  if (typeof value !== "object" || value === null) return null;
  for (const item of Object.values(value)) {
    const found = findUnkeepable(item);
    if (found !== null) return found;
  }
  return null;
}

import { isInsidePlace } from "./place-words.ts";
import { type SceneHeading, writePlace } from "./scene-heading.ts";
import { joinText, splitStory } from "./story-text.ts";

export type DraftLine = { speaker: string | null; text: string };
export type DraftScene = {
  heading: string;
  /** The place in the script's words; empty if unknown. */
  place: string;
  time: string | null;
  timeWords: string;
  isInside: boolean | null;
  /** Whether a heading marks it as a scene, even without action. */
  isSlug: boolean;
  action: string[];
  lines: DraftLine[];
};

export type Draft = { logline: string | null; scenes: DraftScene[] };

/** A scene that continues in the place of another, or has none yet. */
export function createScene(before: DraftScene | null): DraftScene {
  return {
    heading: "",
    place: before?.place ?? "",
    time: before?.time ?? null,
    timeWords: "",
    isInside: before?.isInside ?? null,
    isSlug: false,
    action: [],
    lines: [],
  };
}

export function startScene(heading: SceneHeading, before: DraftScene, names: readonly string[]): DraftScene {
  const place = writePlace(heading.place, names);
  return {
    ...createScene(null),
    heading: heading.text,
    place,
    time: heading.time ?? (heading.isSlug ? before.time : null),
    timeWords: heading.timeWords,
    isInside: heading.isInside ?? isInsidePlace(place),
    isSlug: heading.isSlug,
  };
}

export function isEmpty({ lines, action, isSlug }: DraftScene): boolean {
  return lines.length === 0 && action.length === 0 && !isSlug;
}

/** The first sentences of the action. */
export function summarizeAction(action: readonly string[], sentencesMax: number): string {
  const sentences: string[] = [];
  for (const text of action) {
    if (sentences.length >= sentencesMax) break;
    sentences.push(...splitStory(text));
  }
  return sentences.slice(0, sentencesMax).reduce(joinText, "");
}

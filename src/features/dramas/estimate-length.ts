import type { DramaDocument, Line, ScriptDocument } from "./drama-documents.ts";
import type { DramaRequest } from "./drama-request.ts";

type TimedShot = { duration: number; lines: readonly Pick<Line, "text">[] };
type TimedScene = { lines: readonly Pick<Line, "text">[] };

const charactersPerSecond = 15;
const ideographsPerSecond = 4.5;
/** Pauses around the lines of a shot, and after each line. */
const pauseSeconds = { shot: 0.5, line: 0.3 };
const titleSeconds = 2.5;
const silentSeconds = 2;
const linesPerShot = 2;
const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/** Covers slower voices and the shots that a director adds. */
const margin = 1.5;
/** An outline says little about its length. */
const textSecondsMin = 30;

/**
 * The longest video of a drama, which its hold covers and its work is limited to: the estimate and half of it again, at
 * least 30 s for a text, at most the model's limit. The playground computes the same.
 */
export function limitLength(source: DramaRequest["source"], modelSecondsMax: number): number {
  const seconds = Math.ceil(estimateLength(source) * margin);
  return Math.min(modelSecondsMax, source.kind === "text" ? Math.max(seconds, textSecondsMin) : seconds);
}

/** The approximate length of a drama's video in seconds. */
export function estimateLength(source: DramaRequest["source"]): number {
  return Math.ceil(source.kind === "text" ? measureText(source.text.trim()) : measureDocument(source.document));
}

function measureDocument(document: DramaDocument): number {
  switch (document.object) {
    case "drama.script":
      return measureScenes(document.scenes);
    case "drama.roles":
      return measureScenes(document.script.scenes);
    case "drama.storyboard":
      return measureShots(document.shots);
  }
}

function measureText(text: string): number {
  const { scenes, lines } = readScreenplay(text);
  // A story without dialogue is narrated.
  if (lines.length === 0)
    return measureScenes([{ lines: splitSentences(text).map((sentence) => ({ text: sentence })) }]);
  const perScene = Math.ceil(lines.length / scenes);
  return measureScenes(
    Array.from({ length: scenes }, (_, index) => ({ lines: lines.slice(index * perScene, (index + 1) * perScene) })),
  );
}

/** Each scene opens with a shot without lines. */
function measureScenes(scenes: readonly (TimedScene | ScriptDocument["scenes"][number])[]): number {
  return measureShots(
    scenes.flatMap(({ lines }) => [
      { duration: silentSeconds, lines: [] },
      ...Array.from({ length: Math.ceil(lines.length / linesPerShot) }, (_, index) => ({
        duration: silentSeconds,
        lines: lines.slice(index * linesPerShot, (index + 1) * linesPerShot),
      })),
    ]),
  );
}

function measureShots(shots: readonly TimedShot[]): number {
  return shots.reduce((sum, shot) => sum + measureShot(shot), titleSeconds);
}

function measureShot({ duration, lines }: TimedShot): number {
  return lines.length === 0 ? duration : lines.reduce((sum, { text }) => sum + measureLine(text), pauseSeconds.shot);
}

function measureLine(text: string): number {
  const ideographCount = text.match(ideographs)?.length ?? 0;
  return (
    ideographCount / ideographsPerSecond + (text.length - ideographCount) / charactersPerSecond + pauseSeconds.line
  );
}

const heading = /^(INT|EXT|EST|I\/E|INT\.?\/EXT)[. ]|^SCENE\b|^第.{1,5}[场幕]/i;
/** A speaker's name on its own line, or before a colon. */
const cue = /^[\p{Lu}\p{Lo}][\p{Lu}\p{Lo}\p{N} .'’-]{0,39}(\s*\([^)]*\))?$/u;
const spokenAfterColon = /^[\p{L}][\p{L}\p{N} .'’-]{0,39}[:：]\s*(.+)$/u;
const direction = /^\([^)]*\)$/;

function readScreenplay(text: string): { scenes: number; lines: { text: string }[] } {
  const lines: { text: string }[] = [];
  let scenes = 0;
  let said: string[] | null = null;
  const end = (): void => {
    if (said !== null && said.length > 0) lines.push({ text: said.join(" ") });
    said = null;
  };
  for (const row of text.split("\n").map((each) => each.trim())) {
    const afterColon = spokenAfterColon.exec(row)?.[1];
    if (row === "") end();
    else if (heading.test(row)) {
      end();
      scenes += 1;
    } else if (said !== null) {
      if (!direction.test(row)) said.push(row);
    } else if (afterColon !== undefined) lines.push({ text: afterColon });
    else if (cue.test(row)) said = [];
  }
  end();
  return { scenes: Math.max(1, scenes), lines };
}

function splitSentences(text: string): string[] {
  return text.split(/(?<=[.!?。！？])\s*/u).filter((sentence) => sentence.trim() !== "");
}

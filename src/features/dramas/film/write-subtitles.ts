import { writeSubtitleTime } from "../../../lib/subtitle-time.ts";
import { framesPerSecond } from "./plan-timeline.ts";

/** What is shown from one frame of the film to another. */
export type SubtitleCue = { startFrame: number; endFrame: number; speaker: string | null; text: string };

/** A WebVTT file: every line whole, whoever says it named. */
export function writeSubtitles(cues: readonly SubtitleCue[]): string {
  return ["WEBVTT", ...cues.map(writeCue)].join("\n\n").concat("\n");
}

function writeCue({ startFrame, endFrame, speaker, text }: SubtitleCue): string {
  const voice = speaker === null ? "" : `<v ${escapeText(speaker)}>`;
  return `${writeTime(startFrame)} --> ${writeTime(endFrame)}\n${voice}${escapeText(text)}`;
}

/** An empty line would end the cue, and an arrow begin another. */
function escapeText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function writeTime(frame: number): string {
  return writeSubtitleTime(Math.round((frame * 1000) / framesPerSecond), ".");
}

import { writeSubtitleTime } from "../../../lib/subtitle-time.ts";
import { framesPerSecond } from "./plan-timeline.ts";

/** A cue with frame numbers of the whole film. */
export type SubtitleCue = { startFrame: number; endFrame: number; speaker: string | null; text: string };

/** Writes a WebVTT file with whole lines and named speakers. */
export function writeSubtitles(cues: readonly SubtitleCue[]): string {
  return ["WEBVTT", ...cues.map(writeCue)].join("\n\n").concat("\n");
}

function writeCue({ startFrame, endFrame, speaker, text }: SubtitleCue): string {
  const voice = speaker === null ? "" : `<v ${escapeText(speaker)}>`;
  return `${writeTime(startFrame)} --> ${writeTime(endFrame)}\n${voice}${escapeText(text)}`;
}

/** An empty line would end the cue, and `-->` would start another. */
function escapeText(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function writeTime(frame: number): string {
  return writeSubtitleTime(Math.round((frame * 1000) / framesPerSecond), ".");
}

import { writeSubtitleTime } from "../../lib/subtitle-time.ts";

/** One subtitle; times are in seconds. */
export type Cue = { start: number; end: number; text: string };

/** SubRip, numbered from 1 as OpenAI does. */
export function writeSrt(cues: readonly Cue[]): string {
  return cues.map((cue, index) => `${index + 1}\n${writeTimes(cue, ",")}\n${cleanText(cue.text)}\n\n`).join("");
}

export function writeVtt(cues: readonly Cue[]): string {
  return `WEBVTT\n\n${cues.map((cue) => `${writeTimes(cue, ".")}\n${escapeText(cleanText(cue.text))}\n\n`).join("")}`;
}

function writeTimes({ start, end }: Cue, separator: "." | ","): string {
  const write = (seconds: number): string => writeSubtitleTime(Math.max(0, Math.round(seconds * 1000)), separator);
  return `${write(start)} --> ${write(Math.max(start, end))}`;
}

/** An empty line would end the cue, and a parser would read `-->` as the times of the next one. */
function cleanText(text: string): string {
  return text
    .trim()
    .replaceAll(/\s*\n\s*/g, "\n")
    .replaceAll("-->", "->");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

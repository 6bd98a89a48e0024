import type { AskWriter } from "./ask-writer.ts";
import { foldName } from "./check-document.ts";
import { type ScriptAnswer, type ScriptQuestion, scriptAnswerSchema } from "./drama-answers.ts";
import { linesMax, type ScriptDocument, scenesMax } from "./drama-documents.ts";
import type { DramaRequest } from "./drama-request.ts";

const instructions = `You are a screenwriter for short films. You are given a title and a text in any language: a story, an outline or a
finished screenplay. Turn it into a screenplay in the language of the text. Keep every word of dialogue that is there;
invent dialogue only where there is none. What a narrator tells has the speaker null. Directions are never part of what
is said. Use the given names of characters where they are meant. Everything that is said has to fit into
film_seconds_max seconds, at about 14 letters a second.`;

/** Turns a text into a screenplay. */
export async function composeScript(
  ask: AskWriter,
  request: DramaRequest & { source: { kind: "text" } },
  { modelId, signal }: { modelId: string; signal: AbortSignal },
): Promise<ScriptDocument> {
  const facts: ScriptQuestion = {
    title: request.title,
    episode: request.episode,
    characters: request.characters.map(({ name }) => name),
    film_seconds_max: request.secondsMax,
    script: request.source.text,
  };
  const answer = await ask({ modelId, name: "drama_script", schema: scriptAnswerSchema, instructions, facts }, signal);
  return completeScript(answer, request);
}

/** Truncates the model's response to the limits of a document, and unifies names with the caller's. */
export function completeScript(
  answer: ScriptAnswer,
  { title, episode, characters }: Pick<DramaRequest, "title" | "episode" | "characters">,
): ScriptDocument {
  const names = new Map(characters.map(({ name }) => [foldName(name), name]));
  let linesLeft = linesMax;
  const scenes = answer.scenes.slice(0, scenesMax).map((scene, index) => {
    const lines = scene.lines
      .map(({ speaker, text }) => ({ speaker: readSpeaker(speaker, names), text: cut(text, 2000) }))
      .filter(({ text }) => text !== "")
      .slice(0, linesLeft);
    linesLeft -= lines.length;
    return {
      id: `scene-${index + 1}`,
      heading: cut(scene.heading, 300),
      place: cut(scene.place, 2000),
      time: cut(scene.time, 100),
      action: cut(scene.action, 4000),
      lines,
    };
  });
  const empty = { id: "scene-1", heading: title, place: title, time: "", action: title, lines: [] };
  return {
    object: "drama.script",
    title,
    episode,
    language: readLanguage(answer.language),
    logline: cut(answer.logline, 2000),
    scenes: scenes.length === 0 ? [empty] : scenes,
  };
}

const narratorNames = new Set([
  "",
  "narrator",
  "narration",
  "voice-over",
  "voiceover",
  "旁白",
  "erzähler",
  "narrateur",
]);

function readSpeaker(speaker: string | null, names: ReadonlyMap<string, string>): string | null {
  const trimmed = cut((speaker ?? "").replace(/\s+/g, " "), 100);
  const known = names.get(foldName(trimmed));
  if (known !== undefined) return known;
  if (narratorNames.has(foldName(trimmed))) return null;
  // The first spelling of a name wins.
  return trimmed;
}

function readLanguage(language: string): string {
  return /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(language) ? language : "en";
}

/** Truncates at a character boundary, and removes characters that PostgreSQL cannot store. */
export function cut(text: string, charactersMax: number): string {
  const clean = text.toWellFormed().replaceAll("\0", "").trim();
  return clean.length <= charactersMax ? clean : [...clean.slice(0, charactersMax + 1)].slice(0, -1).join("").trim();
}

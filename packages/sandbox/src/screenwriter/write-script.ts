import { buildScenes } from "./build-scenes.ts";
import { cleanScript } from "./clean-script.ts";
import { writePlaceSentence } from "./describe-place.ts";
import type { DramaQuestion } from "./drama-question.ts";
import { fitScript } from "./fit-script.ts";
import { findPlace, isInsidePlace } from "./place-words.ts";
import { readScript } from "./read-script.ts";
import { createNameBook, dropParentheses } from "./role-names.ts";
import { createScene, type Draft, type DraftScene, summarizeAction } from "./scene-draft.ts";
import { createCueBook } from "./script-cues.ts";
import { findSmallPhrases, joinList, listEmojiWords } from "./small-story.ts";
import { countMatches, denseSigns, detectStoryLanguage, type StoryLanguage } from "./story-language.ts";
import { cutToLength, isSpeakable, joinText, splitStory, writeSentence } from "./story-text.ts";
import { findTime } from "./time-words.ts";

type ScriptQuestion = Pick<DramaQuestion, "title" | "characters" | "filmSecondsMax"> & { script: string };

export type WrittenScript = ReturnType<typeof writeScript>;

const actionSentencesMax = 6;
const actionCharactersMax = 1200;
const loglineCharactersMax = 240;
const smallCharactersMax = 120;

/** Writes a script in scenes from any input: a screenplay, a play, a story, an outline, a word. */
export function writeScript({ title, characters, filmSecondsMax, script }: ScriptQuestion) {
  const names = createNameBook(characters);
  const lines = cleanScript(script);
  const draft = buildScenes(readScript(lines, createCueBook(lines, names), title), names, filmSecondsMax);
  const text = lines.map((line) => line.text).join("\n");
  const isWordless = !isSpeakable(text);
  const language = detectStoryLanguage(isWordless ? title : text);
  const told = isSmall(draft) ? tellSmallStory(draft, { title, characters, text, language }) : draft;
  const scenes = fitScript(told.scenes, filmSecondsMax);
  return {
    language,
    logline: writeLogline(told, title),
    scenes: scenes.map((scene) => presentScene(scene, { title, language })),
  };
}

/** A word, an emoji, a sentence, a lone heading: too little for a video. */
function isSmall({ scenes }: Draft): boolean {
  const lines = scenes.flatMap((scene) => scene.lines);
  if (lines.length === 0) return true;
  const said = lines.map(({ text }) => text).join(" ");
  return (
    scenes.length === 1 &&
    lines.length <= 2 &&
    lines.every(({ speaker }) => speaker === null) &&
    said.length <= smallCharactersMax
  );
}

type Beginning = { title: string; characters: readonly string[]; text: string; language: StoryLanguage };

/** Adds a few lines by the narrator and up to two characters. */
function tellSmallStory(draft: Draft, { title, characters, text, language }: Beginning): Draft {
  const phrases = findSmallPhrases(language);
  const first: DraftScene = draft.scenes[0] ?? createScene(null);
  const shown = listEmojiWords(text);
  const lines = first.lines.filter((line) => !isSingleWord(line.text));
  if (lines.length === 0) lines.push({ speaker: null, text: openStory() });
  const [one, two] = characters.filter((name) => isSpeakable(name));
  if (one !== undefined) lines.push({ speaker: one, text: phrases.question });
  if (two !== undefined && two.toLowerCase() !== one?.toLowerCase()) lines.push({ speaker: two, text: phrases.reply });
  const seen = shown.length === 0 ? first.action : [writeSentence(joinList(shown)), ...first.action];
  const found = findPlace(seen.join(" "));
  const place = first.place === "" ? (found?.words ?? "") : first.place;
  const time = first.time ?? findTime(seen.join(" "));
  const isInside = first.isInside ?? isInsidePlace(place);
  return { ...draft, scenes: [{ ...first, place, time, isInside, action: seen, lines }, ...draft.scenes.slice(1)] };

  function openStory(): string {
    const word = cutToLength((first.lines[0]?.text ?? first.place) || splitStory(text)[0] || "", 60).replace(
      /[.!?。！？…]+$/u,
      "",
    );
    if (isSpeakable(word)) return phrases.fromWord(word);
    if (language === "en" && shown.length > 0) return `This is a story of ${joinList(shown)}.`;
    return isSpeakable(title) ? phrases.fromTitle(title) : phrases.wordless;
  }
}

/** For scripts without spaces: as many characters as a word may have. */
function isSingleWord(text: string): boolean {
  return !/\s/.test(text) && (countMatches(text, denseSigns) === 0 || Array.from(text).length <= 6);
}

function writeLogline({ logline, scenes }: Draft, title: string): string {
  if (logline !== null) return cutToLength(logline, loglineCharactersMax);
  const actions = dropParentheses(summarizeAction(scenes.flatMap(({ action }) => action).slice(0, 4), 2));
  const lines = scenes.flatMap((scene) => scene.lines).slice(0, 2);
  const said = lines.map(({ text }) => text).reduce(joinText, "");
  const story = isSpeakable(actions) ? actions : said;
  return writeSentence(cutToLength(story, loglineCharactersMax) || title || "…");
}

function presentScene(scene: DraftScene, { title, language }: { title: string; language: StoryLanguage }) {
  const time = scene.time ?? "day";
  const action = cutToLength(summarizeAction(scene.action, actionSentencesMax), actionCharactersMax);
  const place = scene.place === "" ? guessPlace(scene, title) : scene.place;
  const sentence = writePlaceSentence(place, { time, timeWords: scene.timeWords, language });
  return {
    heading: (scene.heading === "" ? writeHeading(place, time, scene.isInside) : scene.heading)
      .slice(0, 200)
      .toWellFormed(),
    place: sentence,
    time,
    action: action === "" ? writeTalk(scene, sentence) : action,
    lines: scene.lines,
  };
}

/** Without a place in the scene: the title's, else the action. */
function guessPlace({ action }: DraftScene, title: string): string {
  const named = findPlace(title);
  if (named !== null) return named.words.toLowerCase();
  const seen = writeSentence(summarizeAction(action, 1));
  return isSpeakable(seen) ? cutToLength(seen, 160) : "A quiet room";
}

function writeTalk({ lines }: DraftScene, place: string): string {
  const speakers = [...new Set(lines.flatMap(({ speaker }) => speaker ?? []))].slice(0, 3);
  if (speakers.length === 0) return place;
  return `${joinList(speakers)} ${speakers.length === 1 ? "speaks" : "talk"}.`;
}

function writeHeading(place: string, time: string, isInside: boolean | null): string {
  const where = cutToLength(place, 60).replace(/[.。…]+$/u, "");
  return `${isInside === true ? "INT." : "EXT."} ${where.toUpperCase()} – ${time.toUpperCase()}`;
}

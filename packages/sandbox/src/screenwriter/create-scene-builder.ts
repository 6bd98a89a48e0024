import { countScenesMax, estimateSceneSeconds } from "./fit-script.ts";
import { type FoundPlace, findPlace } from "./place-words.ts";
import { readProse, type Talk } from "./read-prose.ts";
import { dropParentheses, isNarratorName, type NameBook, stripExtension } from "./role-names.ts";
import { createScene, type DraftScene, isEmpty } from "./scene-draft.ts";
import { hasSpeechVerb } from "./speech-verbs.ts";
import { isSpeakable, joinText, splitSpeech } from "./story-text.ts";
import { findTime } from "./time-words.ts";

const linesOfSceneMax = 10;
const rolesMax = 40;
const laterPattern =
  /^(?:the next (?:day|morning)|later|meanwhile|that (?:night|evening)|hours later|years later|第二天|后来|後來|几年后)/iu;

/** Builds scenes block by block. With `mayMove`, a narrated sentence can change the place. */
export function createSceneBuilder(names: NameBook, { mayMove }: { mayMove: boolean }) {
  const scenes: DraftScene[] = [];
  const talk: Talk = { last: null, other: null, named: null };
  const people = new Set<string>(names.given.slice(0, rolesMax));
  let scene = createScene(null);
  let seconds = 0;

  function open(next: DraftScene): void {
    if (!isEmpty(scene)) {
      scenes.push(scene);
      seconds += estimateSceneSeconds(scene);
    }
    scene = next;
  }

  function say(speaker: string | null, text: string): void {
    const spoken = dropParentheses(text);
    const name = speaker === null ? null : resolveSpeaker(speaker);
    if (isSpeakable(spoken)) scene.lines.push(...splitSpeech(spoken).map((part) => ({ speaker: name, text: part })));
    else if (text !== "") scene.action.push(name === null ? text : joinText(name, text));
  }

  /** The number of roles is limited; later speakers become the narrator. */
  function resolveSpeaker(written: string): string | null {
    const plain = stripExtension(written) || written.trim();
    if (isNarratorName(plain) && !names.isGiven(plain)) return null;
    const name = names.resolve(plain).slice(0, 80).trim().toWellFormed();
    if (!people.has(name) && people.size >= rolesMax) return null;
    people.add(name);
    return name;
  }

  function tell(text: string, { isNarrated }: { isNarrated: boolean }): void {
    for (const piece of readProse(text, { known: [...people], talk, isPlay: !isNarrated })) {
      if (piece.kind === "speech") {
        say(piece.speaker, piece.text);
        continue;
      }
      if (isNarrated && piece.kind === "told") stage(piece.text);
      scene.action.push(piece.text);
      if (isNarrated && piece.kind === "told") say(null, piece.text);
    }
  }

  /** A sentence that moves the story to another place starts a scene. */
  function stage(sentence: string): void {
    // Reported speech does not move the scene: "He tells her that the train is late."
    const place = findPlace(hasSpeechVerb(sentence) ? (sentence.split(/\bthat\b/iu)[0] ?? "") : sentence);
    const isElsewhere = place !== null && scene.place !== "" && !sameWords(scene.place, place.words) && !scene.isSlug;
    const isLater = laterPattern.test(sentence) && scene.lines.length > 0;
    const isFull = scene.lines.length >= linesOfSceneMax;
    if (mayMove && (isElsewhere || isLater || isFull)) open(createScene(scene));
    if (place !== null && (scene.place === "" || (isElsewhere && mayMove))) {
      [scene.place, scene.isInside] = [describeFound(sentence, place), place.isInside];
    }
    scene.time = findTime(sentence) ?? scene.time;
  }

  return {
    ...{ open, say, tell },
    current: () => scene,
    /** Whether further text is beyond the end of the video. */
    isFull: (secondsMax: number) => seconds > secondsMax && scenes.length > countScenesMax(secondsMax),
    listPeople: () => [...people],
    finish(): DraftScene[] {
      open(createScene(null));
      return scenes;
    },
  };
}

/** "the dark old forest" from an English sentence; in other languages only the noun, which may be inflected. */
function describeFound(sentence: string, { words, index, englishNames }: FoundPlace): string {
  if (!englishNames.includes(words.toLowerCase())) return words;
  const before = sentence.slice(Math.max(0, index - 40), index);
  const [, article = "", adjectives = ""] =
    /(?:^|\s)(the|an?|his|her|their|my|our)\s((?:[a-z-]{3,14}\s){0,2})$/i.exec(before) ?? [];
  return article === "" ? words : `${adjectives}${words}`;
}

function sameWords(place: string, words: string): boolean {
  return place.toLowerCase().includes(words.toLowerCase());
}

import { findPlace, isInsidePlace, translatePlaces } from "./place-words.ts";
import { writeName } from "./role-names.ts";
import { parseSceneHeading, writePlace } from "./scene-heading.ts";
import type { StoryLanguage } from "./story-language.ts";
import { joinText, writeSentence } from "./story-text.ts";
import { describeLight, describeTime, findTime, readTimeToken } from "./time-words.ts";

const placeCharactersMax = 300;

type PlaceTime = { time: string; timeWords: string; language: StoryLanguage };

/** A sentence for an image, in the script's language: "A kitchen at night.", 咖啡馆，夜。 */
export function writePlaceSentence(place: string, { time, timeWords, language }: PlaceTime): string {
  const words = place.trim().slice(0, placeCharactersMax).toWellFormed();
  if (/[.!?…。！？]$/u.test(words)) return words;
  if (language !== "en") {
    return writeSentence(
      [words, timeWords]
        .filter(Boolean)
        .map(writeQuietly)
        .join(language === "zh" ? "，" : ", "),
    );
  }
  const phrase = findTime(words) === null ? describeTime(time) : "";
  return writeSentence(joinText(withArticle(words), phrase));
}

/** The same in English, with the light of the time: the start of an image prompt. */
export function paintPlace({ place, time, heading }: { place: string; time: string; heading: string }): string {
  const given = place.trim() === "" ? writePlace(parseSceneHeading(heading)?.place ?? heading, []) : place;
  const named = readTimeToken(time) ?? findTime(`${given} ${heading}`) ?? "day";
  const isInside = /^\s?(?:int|内)/iu.test(heading) || (isInsidePlace(given) ?? false);
  const light = describeLight(named, { isInside });
  if (isTold(given))
    return joinText(translatePlaces(given.slice(0, placeCharactersMax).toWellFormed()), writeSentence(light));
  const tokens = given
    .slice(0, placeCharactersMax)
    .toWellFormed()
    .split(/\s?[,，、。;；]\s?|\.\s|\.$/u)
    .filter((token) => token.trim() !== "");
  const wheres = tokens.filter((token) => readTimeToken(token) === null).map((token) => translatePlaces(token).trim());
  const where = wheres.join(", ");
  const phrase = findTime(where) === null ? describeTime(named) : "";
  const painted = where === "" ? "An open landscape" : withArticle(where);
  return writeSentence(`${joinText(painted, phrase)}, ${light}`);
}

/** Whole sentences stay unchanged: only a few words can be combined with others. */
function isTold(place: string): boolean {
  return (
    /[.!?。！？]$/u.test(place.trim()) && (place.trim().split(/\s+/).length > 8 || /[.!?。！？]\s?\S/u.test(place))
  );
}

/** "kitchen" becomes "a kitchen"; names, plurals and words with a determiner stay unchanged. */
function withArticle(place: string): string {
  const first = place.split(/[\s,]/)[0] ?? "";
  const isDone = /^(?:the|an?|his|her|their|my|our|some|two|three|inside|outside|on|in|at|under|near|by)$/i.test(first);
  const found = isDone || /['’]s?$/.test(first) ? null : findPlace(place.split(",")[0] ?? place);
  if (found === null || !found.englishNames.includes(found.words.toLowerCase()) || /s$/i.test(found.words))
    return place;
  if (/^\p{Lu}/u.test(first) && first.toLowerCase() !== found.words.toLowerCase() && !/^\p{Lu}+$/u.test(place))
    return place;
  if (!/^[\p{Script=Latin}\s,'’-]+$/u.test(place)) return place;
  const article = /^(?:sea|ocean|moon|seaside)$/i.test(place) ? "The" : /^[aeiou]/i.test(first) ? "An" : "A";
  return `${article} ${place.slice(0, 1).toLowerCase()}${place.slice(1)}`;
}

/** An all-caps heading in title case. */
function writeQuietly(words: string): string {
  return /\p{Ll}/u.test(words) ? words : writeName(words);
}

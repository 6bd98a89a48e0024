import { createSeededRandom, type SeededRandom } from "../../seeded-random.ts";
import { chooseLooks } from "../people/figure-looks.ts";
import { drawCurrents, drawPoster } from "../scenes/abstract-scenes.ts";
import { drawBotanical } from "../scenes/botanical-scene.ts";
import { drawCity, drawForest } from "../scenes/built-scenes.ts";
import { drawCafe } from "../scenes/cafe-scene.ts";
import { drawDesert, drawMeadow } from "../scenes/land-scenes.ts";
import { drawMountains, drawSea } from "../scenes/outdoor-scenes.ts";
import { createPalette, type Mood, moodNames, type Palette } from "../scenes/palette.ts";
import { framePoster } from "../scenes/poster-scene.ts";
import { drawRoom } from "../scenes/room-scene.ts";
import type { Canvas, Scene, SceneParts, SceneWish } from "../scenes/scene.ts";
import {
  findWord,
  formWords,
  insideWords,
  kindWords,
  moodWords,
  type SceneForm,
  type SceneKind,
  storySubjectWords,
  storyWords,
  tintWords,
  vehicleWords,
  weatherWords,
} from "../scenes/scene-words.ts";
import { drawNight, drawSpace } from "../scenes/sky-scenes.ts";
import { drawStation } from "../scenes/station-scene.ts";
import { drawPortrait, drawStill } from "../scenes/still-scenes.ts";
import { drawStreet } from "../scenes/street-scene.ts";
import { describeSubject } from "../scenes/subject-table.ts";
import { type FoundSubject, findSubjects } from "../scenes/subject-words.ts";
import type { ShotPrompt } from "./shot-prompt.ts";

export type PlannedImage = { scene: Scene; palette: Palette };

type SceneStyle = { draw(parts: SceneParts): Scene; moods: readonly [Mood, ...Mood[]] };

const indoorMoods: readonly [Mood, ...Mood[]] = ["golden", "dusk", "day", "dawn"];

/** Each scene with the moods that suit it if the prompt names none. */
const sceneKinds: Record<SceneKind, SceneStyle> = {
  mountains: { draw: drawMountains, moods: ["dawn", "golden", "mist", "winter", "dusk", "day"] },
  sea: { draw: drawSea, moods: ["golden", "day", "dawn", "dusk", "storm"] },
  city: { draw: drawCity, moods: ["dusk", "neon", "golden", "night"] },
  street: { draw: drawStreet, moods: ["dusk", "golden", "day", "mist"] },
  night: { draw: drawNight, moods: ["night", "dusk"] },
  forest: { draw: drawForest, moods: ["mist", "autumn", "spring", "dawn"] },
  desert: { draw: drawDesert, moods: ["arid", "golden", "dusk"] },
  meadow: { draw: drawMeadow, moods: ["day", "spring", "golden", "autumn"] },
  space: { draw: drawSpace, moods: ["neon", "night", "dusk"] },
  kitchen: { draw: (parts) => drawRoom(parts, "kitchen"), moods: indoorMoods },
  bedroom: { draw: (parts) => drawRoom(parts, "bedroom"), moods: indoorMoods },
  office: { draw: (parts) => drawRoom(parts, "office"), moods: indoorMoods },
  parlour: { draw: (parts) => drawRoom(parts, "parlour"), moods: indoorMoods },
  carriage: { draw: (parts) => drawRoom(parts, "carriage"), moods: indoorMoods },
  station: { draw: drawStation, moods: ["dusk", "golden", "day", "night"] },
  still: { draw: drawStill, moods: ["dawn", "day", "golden", "autumn"] },
  portrait: { draw: drawPortrait, moods: ["dawn", "day", "autumn", "winter"] },
  cafe: { draw: drawCafe, moods: ["dusk", "golden", "night"] },
  botanical: { draw: drawBotanical, moods: ["spring", "autumn", "dawn", "mist"] },
  poster: { draw: drawPoster, moods: ["arid", "golden", "winter", "day"] },
  currents: { draw: drawCurrents, moods: ["neon", "golden", "day", "dusk", "spring"] },
};

/** Scenes that say something without a subject. */
const kindNames = (Object.keys(sceneKinds) as SceneKind[]).filter(
  (kind) => kind !== "still" && kind !== "portrait",
) as [SceneKind, ...SceneKind[]];
const indoorKinds: readonly SceneKind[] = ["kitchen", "bedroom", "office", "parlour", "carriage", "cafe"];

/** Plans an image: by the prompt's known words, else by its hash. The seed selects one of the possible images. */
export function planImage(shot: ShotPrompt, seed: string, canvas: Canvas): PlannedImage {
  return shot.isShot ? planShot(shot, canvas) : planAlone(shot.setting, seed, canvas);
}

function planAlone(prompt: string, seed: string, canvas: Canvas): PlannedImage {
  const random = createSeededRandom(seed);
  const subjects = findSubjects(prompt);
  const form = findWord(formWords, prompt);
  const named = findNamedKind(prompt, subjects, form);
  const kind = named ?? chooseKind(subjects, random);
  const { moods } = sceneKinds[kind];
  const wish = findWord(moodWords, prompt);
  const mood = wish ?? (named !== null ? random.pick(moods) : random.pick(random.chance(0.75) ? moods : moodNames));
  // The colour of a subject is not the colour of the whole image.
  const tint = subjects.some(({ colour }) => colour !== null) ? null : findWord(tintWords, prompt);
  const palette = createPalette(mood, tint, random.fork("palette"));
  const staging = { canvas, palette, random: random.fork("scene"), subjects };
  const scene = drawScene(kind, prompt, staging);
  const isFramed = form === "poster" && kind !== "poster";
  return { scene: isFramed ? framePoster(scene, { canvas }) : scene, palette };
}

/** The scene that a prompt asks for: by its form, its place, or things that are shown close up. */
export function findNamedKind(
  prompt: string,
  subjects: readonly FoundSubject[],
  form: SceneForm | null,
): SceneKind | null {
  const [first] = subjects;
  const isOfPerson = subjects.some(({ subject }) => subject === "person");
  if (form === "portrait") return isOfPerson || first === undefined ? "portrait" : "still";
  const isInside = insideWords.test(prompt);
  const found = findWord(kindWords, isInside ? prompt : prompt.replace(vehicleWords, " "));
  const isOutdoors = first !== undefined && describeSubject(first.subject).on === "land" && !isInside;
  const place = isOutdoors && found !== null && indoorKinds.includes(found) ? null : found;
  if (form !== null) return first === undefined ? (place ?? "poster") : "poster";
  const isCloseUp = first !== undefined && describeSubject(first.subject).on === "table";
  if (isCloseUp && (place === null || indoorKinds.includes(place) || place === "botanical")) return "still";
  return place;
}

/** A place looks the same in all shots at the same time of day: only the words for it are the seed. */
function planShot({ setting, people }: ShotPrompt, canvas: Canvas): PlannedImage {
  const kind = findShotKind(setting);
  const isEvening = /\b(evening|lamplight|candle\w*|abend|soir|noche)\b|晚/iu.test(setting);
  const wish = isEvening && indoorKinds.includes(kind) ? "dusk" : (findWord(moodWords, setting) ?? findDay(setting));
  const mood = wish ?? createSeededRandom(`shot/${kind}`).pick(sceneKinds[kind].moods);
  const random = createSeededRandom(`shot/${kind}/${mood}`);
  const palette = createPalette(mood, /\bnoir\b|黑白/iu.test(setting) ? "grey" : null, random.fork("palette"));
  const named = findSubjects(setting.replace(storySubjectWords, " "));
  const subjects = people.length > 0 ? named.filter(({ subject }) => subject !== "person") : named;
  return { scene: drawScene(kind, setting, { canvas, palette, random: random.fork("scene"), subjects }), palette };
}

/** Where a shot takes place. Without a place, in a room or in the street. */
export function findShotKind(setting: string): SceneKind {
  const places = setting.replace(storyWords, " ");
  const isOutside = /\b(outside|outdoors|exterior)\b|户外|外面/iu.test(setting);
  const words = isOutside ? kindWords.filter(([kind]) => !indoorKinds.includes(kind)) : kindWords;
  return findWord(words, places) ?? (isOutside ? "street" : "parlour");
}

/** In a shot, "day" is a time of day. */
function findDay(setting: string): Mood | null {
  return /\b(day|tag|jour|día)\b|白天/iu.test(setting) ? "day" : null;
}

type Staging = { canvas: Canvas; palette: Palette; random: SeededRandom; subjects: readonly FoundSubject[] };

function drawScene(kind: SceneKind, prompt: string, { subjects, ...parts }: Staging): Scene {
  let ids = 0;
  return sceneKinds[kind].draw({
    ...parts,
    subjects: subjects.map(({ subject }) => subject),
    colours: new Map(subjects.flatMap(({ subject, colour }) => (colour === null ? [] : [[subject, colour]]))),
    looks: chooseLooks(prompt, prompt),
    weather: findWord(weatherWords, prompt),
    wishes: listWishes(prompt),
    createId() {
      ids += 1;
      return `p${ids}`;
    },
  });
}

function listWishes(prompt: string): SceneWish[] {
  const hasAurora = /\b(aurora|northern lights|polarlicht)\b|极光|オーロラ|сияни/iu.test(prompt);
  return [
    ...(hasAurora ? (["aurora"] as const) : []),
    ...(findWord(formWords, prompt) === "badge" ? (["badge"] as const) : []),
  ];
}

/** A subject needs a scene that suits it; a person goes where the other subject belongs. */
function chooseKind(subjects: readonly FoundSubject[], random: SeededRandom): SceneKind {
  const first = subjects.find(({ subject }) => subject !== "person") ?? subjects[0];
  return random.pick(first === undefined ? kindNames : describeSubject(first.subject).homes);
}

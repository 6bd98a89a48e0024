import { createSeededRandom, type SeededRandom } from "../../seeded-random.ts";
import { drawCurrents, drawPoster } from "../scenes/abstract-scenes.ts";
import { drawBotanical } from "../scenes/botanical-scene.ts";
import { drawCity, drawForest } from "../scenes/built-scenes.ts";
import { drawCafe } from "../scenes/cafe-scene.ts";
import { drawDesert, drawMeadow } from "../scenes/land-scenes.ts";
import { drawMountains, drawSea } from "../scenes/outdoor-scenes.ts";
import { createPalette, type Mood, moodNames, type Palette } from "../scenes/palette.ts";
import { drawRoom } from "../scenes/room-scene.ts";
import type { Canvas, Scene, SceneParts } from "../scenes/scene.ts";
import {
  findWord,
  kindWords,
  moodWords,
  type SceneKind,
  storyWords,
  subjectWords,
  tintWords,
  weatherWords,
} from "../scenes/scene-words.ts";
import { drawNight, drawSpace } from "../scenes/sky-scenes.ts";
import { drawStreet } from "../scenes/street-scene.ts";
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
  cafe: { draw: drawCafe, moods: ["dusk", "golden", "night"] },
  botanical: { draw: drawBotanical, moods: ["spring", "autumn", "dawn", "mist"] },
  poster: { draw: drawPoster, moods: ["arid", "golden", "winter", "day"] },
  currents: { draw: drawCurrents, moods: ["neon", "golden", "day", "dusk", "spring"] },
};

const kindNames = Object.keys(sceneKinds) as [SceneKind, ...SceneKind[]];
const indoorKinds: readonly SceneKind[] = ["kitchen", "bedroom", "office", "parlour", "carriage", "cafe"];

/** Plans an image: by the prompt's known words, else by its hash. The seed selects one of the possible images. */
export function planImage(shot: ShotPrompt, seed: string, canvas: Canvas): PlannedImage {
  return shot.isShot ? planShot(shot, canvas) : planAlone(shot.setting, seed, canvas);
}

function planAlone(prompt: string, seed: string, canvas: Canvas): PlannedImage {
  const random = createSeededRandom(seed);
  const named = findWord(kindWords, prompt);
  const kind = named ?? chooseKind(prompt, random);
  const { moods } = sceneKinds[kind];
  const wish = findWord(moodWords, prompt);
  const mood = wish ?? (named !== null ? random.pick(moods) : random.pick(random.chance(0.75) ? moods : moodNames));
  const palette = createPalette(mood, findWord(tintWords, prompt), random.fork("palette"));
  const scene = drawScene(kind, prompt, { canvas, palette, random: random.fork("scene"), hasPeople: false });
  return { scene, palette };
}

/** A place looks the same in all shots at the same time of day: only the words for it are the seed. */
function planShot({ setting, people }: ShotPrompt, canvas: Canvas): PlannedImage {
  const kind = findShotKind(setting);
  const isEvening = /\b(evening|lamplight|candle\w*|abend|soir|noche)\b|晚/iu.test(setting);
  const wish = isEvening && indoorKinds.includes(kind) ? "dusk" : (findWord(moodWords, setting) ?? findDay(setting));
  const mood = wish ?? createSeededRandom(`shot/${kind}`).pick(sceneKinds[kind].moods);
  const random = createSeededRandom(`shot/${kind}/${mood}`);
  const palette = createPalette(mood, /\bnoir\b|黑白/iu.test(setting) ? "grey" : null, random.fork("palette"));
  const staging = { canvas, palette, random: random.fork("scene"), hasPeople: people.length > 0 };
  return { scene: drawScene(kind, setting, staging), palette };
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

/** `hasPeople`: people are added separately. */
type Staging = { canvas: Canvas; palette: Palette; random: SeededRandom; hasPeople: boolean };

function drawScene(kind: SceneKind, prompt: string, { hasPeople, ...parts }: Staging): Scene {
  const subjects = subjectWords.filter(([, words]) => words.test(prompt)).map(([subject]) => subject);
  let ids = 0;
  return sceneKinds[kind].draw({
    ...parts,
    subjects: hasPeople ? subjects.filter((subject) => subject !== "person") : subjects,
    weather: findWord(weatherWords, prompt),
    wishes: /\b(aurora|northern lights|polarlicht)\b|极光|オーロラ|сияни/iu.test(prompt) ? ["aurora"] : [],
    createId() {
      ids += 1;
      return `p${ids}`;
    },
  });
}

/** A subject named in the prompt needs a scene that can show it. */
function chooseKind(prompt: string, random: SeededRandom): SceneKind {
  const subject = findWord(subjectWords, prompt);
  if (subject === null) return random.pick(kindNames);
  return random.pick(subject === "cat" ? ["night", "city", "poster"] : ["meadow", "mountains", "night"]);
}

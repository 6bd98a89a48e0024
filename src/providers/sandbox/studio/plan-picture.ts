import { drawCurrents, drawPoster } from "./abstract-scenes.ts";
import { drawBotanical } from "./botanical-scene.ts";
import { drawCity, drawForest } from "./built-scenes.ts";
import { drawDesert, drawMeadow } from "./land-scenes.ts";
import { drawMountains, drawSea } from "./outdoor-scenes.ts";
import { createPalette, type Mood, moodNames, type Palette } from "./palette.ts";
import type { Canvas, Scene, SceneParts, Subject } from "./scene.ts";
import { createSeededRandom, type SeededRandom } from "./seeded-random.ts";
import { drawNight, drawSpace } from "./sky-scenes.ts";

export type PlannedPicture = { scene: Scene; palette: Palette };

type SceneKind = keyof typeof sceneKinds;

/** Each with the moods that suit it when the prompt names none. */
const sceneKinds = {
  mountains: { draw: drawMountains, moods: ["dawn", "golden", "mist", "winter", "dusk", "day"] },
  sea: { draw: drawSea, moods: ["golden", "day", "dawn", "dusk", "storm"] },
  city: { draw: drawCity, moods: ["dusk", "neon", "golden", "night"] },
  night: { draw: drawNight, moods: ["night", "dusk"] },
  forest: { draw: drawForest, moods: ["mist", "autumn", "spring", "dawn"] },
  desert: { draw: drawDesert, moods: ["arid", "golden", "dusk"] },
  meadow: { draw: drawMeadow, moods: ["day", "spring", "golden", "autumn"] },
  space: { draw: drawSpace, moods: ["neon", "night", "dusk"] },
  botanical: { draw: drawBotanical, moods: ["spring", "autumn", "dawn", "mist"] },
  poster: { draw: drawPoster, moods: ["arid", "golden", "winter", "day"] },
  currents: { draw: drawCurrents, moods: ["neon", "golden", "day", "dusk", "spring"] },
} as const satisfies Record<string, { draw(parts: SceneParts): Scene; moods: readonly [Mood, ...Mood[]] }>;

const kindNames = Object.keys(sceneKinds) as [SceneKind, ...SceneKind[]];

/** Earlier entries win. A few languages, because a picture that ignores its prompt helps nobody to test. */
const kindWords: readonly [SceneKind, RegExp][] = [
  [
    "space",
    /\b(space|planet|galaxy|nebula|rocket|astronaut|cosmos|cosmic|orbit|saturn|mars|weltraum|espacio|espace)\b|宇宙|星球|行星|太空|银河|космос|планет|الفضاء/iu,
  ],
  [
    "sea",
    /\b(sea|ocean|beach|coast|wave|waves|boat|ship|sail|sailing|lighthouse|harbou?r|whale|island|surf|fish|meer|strand|mer|mar|playa)\b|海|浪|船|鯨|鲸|море|океан|بحر/iu,
  ],
  [
    "city",
    /\b(city|skyline|street|tower|skyscraper|downtown|urban|cyberpunk|new york|tokyo|paris|london|stadt|ville|ciudad)\b|城市|都市|街|东京|東京|город|مدينة/iu,
  ],
  ["desert", /\b(desert|dune|dunes|sahara|sand|camel|canyon|wüste|désert|desierto)\b|沙漠|砂漠|пустын|صحراء/iu],
  ["forest", /\b(forest|woods|woodland|jungle|trees|fox|deer|wald|forêt|bosque)\b|森|林|лес|غابة/iu],
  [
    "botanical",
    /\b(flower|flowers|rose|tulip|bouquet|vase|plant|plants|leaf|leaves|botanical|still life|blume|blumen|fleurs?|flores?)\b|花|植物|цвет[ыо]|ورد/iu,
  ],
  [
    "mountains",
    /\b(mountain|mountains|alps|peak|summit|hike|hiking|lake|valley|glacier|berg|berge|montagne|montaña)\b|山|湖|гор[аы]|جبل/iu,
  ],
  [
    "meadow",
    /\b(meadow|field|fields|grass|farm|countryside|village|hill|hills|garden|picnic|spring|wiese|campo|champ)\b|草原|田|村|поле|луг/iu,
  ],
  [
    "poster",
    /\b(poster|bauhaus|geometric|geometry|logo|shape|shapes|minimal|minimalist|design|circle|cubist)\b|几何|幾何|海报/iu,
  ],
  [
    "currents",
    /\b(abstract|ink|flow|music|dream|emotion|paint|painting|texture|marble|abstrakt)\b|抽象|音乐|音楽|夢|梦/iu,
  ],
  [
    "night",
    /\b(night|stars?|starry|aurora|northern lights|polarlicht|moon|moonlight|midnight|milky way|camping|nacht|nuit|noche)\b|夜|星|月|ночь|звёзд|ليل/iu,
  ],
];

const moodWords: readonly [Mood, RegExp][] = [
  ["neon", /\b(neon|cyberpunk|synthwave|vaporwave|retrowave)\b|霓虹/iu],
  ["golden", /\b(sunset|golden hour|golden|evening|sonnenuntergang|coucher|atardecer)\b|夕|日落|закат|غروب/iu],
  ["dawn", /\b(dawn|sunrise|morning|morgen|aube|amanecer)\b|日出|朝|晨|рассвет/iu],
  ["dusk", /\b(dusk|twilight|blue hour|dämmerung|crépuscule)\b|黄昏|сумерк/iu],
  ["night", /\b(night|midnight|dark|moonlight|starry|aurora|northern lights|nacht|nuit|noche)\b|夜|ночь|ليل/iu],
  ["storm", /\b(storm|stormy|thunder|rain|rainy|gloomy|sturm|orage|tormenta)\b|雨|嵐|暴风|дожд|буря/iu],
  ["winter", /\b(winter|snow|snowy|ice|frozen|frost|arctic|schnee|neige|nieve)\b|雪|冬|зим|снег/iu],
  ["autumn", /\b(autumn|fall colou?rs|october|herbst|automne|otoño)\b|秋|осен/iu],
  ["mist", /\b(mist|misty|fog|foggy|nebel|brume|niebla)\b|雾|霧|туман/iu],
  ["spring", /\b(spring|blossom|cherry|sakura|frühling|printemps|primavera)\b|春|桜|樱|весн/iu],
  ["arid", /\b(desert|canyon|savanna|savannah|wüste)\b|沙漠|砂漠/iu],
  ["day", /\b(sunny|noon|daylight|blue sky|summer|sommer|été|verano)\b|晴|夏|лет[оа]/iu],
];

/** Degrees to turn every hue by; the palettes are mostly blue above and orange below. */
const tintWords: readonly [number | "grey", RegExp][] = [
  ["grey", /\b(black and white|monochrome|grayscale|greyscale|noir)\b|黑白|モノクロ/iu],
  [-60, /\b(green|emerald|grün|vert|verde)\b|绿|緑/iu],
  [60, /\b(purple|violet|lila|magenta)\b|紫/iu],
  [28, /\b(pink|rosa)\b|粉/iu],
  [-28, /\b(teal|turquoise|cyan)\b|青/iu],
];

const subjectWords: readonly [Subject, RegExp][] = [
  ["cat", /\b(cat|cats|kitten|katze|chat|gato)\b|猫|кош|кот\b|قطة/iu],
  ["whale", /\b(whale|wal|baleine|ballena|dolphin)\b|鲸|鯨|кит\b/iu],
  ["lighthouse", /\b(lighthouse|leuchtturm|phare|faro)\b|灯塔|灯台|маяк/iu],
  ["boat", /\b(boat|ship|sail|sailing|yacht|schiff|bateau|barco)\b|船|帆|лодк/iu],
  ["rocket", /\b(rocket|spaceship|spacecraft|rakete|fusée|cohete)\b|火箭|ロケット|ракет/iu],
  ["balloon", /\b(balloon|balloons|ballon|globo)\b|气球|気球|воздушн/iu],
  ["house", /\b(house|cottage|cabin|hut|home|farm|haus|maison|casa)\b|房|家|дом/iu],
  [
    "person",
    /\b(person|man|woman|girl|boy|hiker|astronaut|traveller|traveler|portrait|people|child|samurai|knight|robot)\b|人|女|男|человек|девушк/iu,
  ],
  ["birds", /\b(bird|birds|seagull|crane|geese|vögel|oiseaux?|pájaros?)\b|鸟|鳥|птиц/iu],
  ["tree", /\b(tree|oak|baum|arbre|árbol)\b|树|木|дерев/iu],
];

const weatherWords: readonly ["snow" | "rain", RegExp][] = [
  ["snow", /\b(snow|snowy|snowfall|winter|blizzard|schnee|neige|nieve)\b|雪|снег/iu],
  ["rain", /\b(rain|rainy|storm|regen|pluie|lluvia)\b|雨|дожд/iu],
];

/**
 * What a prompt looks like: by its words where they are known, by its hash where they are not. The seed says which of
 * all such pictures it is.
 */
export function planPicture(prompt: string, seed: string, canvas: Canvas): PlannedPicture {
  const random = createSeededRandom(seed);
  const kind = findWord(kindWords, prompt) ?? chooseKind(prompt, random);
  const { draw, moods } = sceneKinds[kind];
  const wish = findWord(moodWords, prompt);
  const mood =
    wish ?? (kindHasWord(prompt) ? random.pick(moods) : random.pick(random.chance(0.75) ? moods : moodNames));
  const palette = createPalette(mood, findWord(tintWords, prompt), random.fork("palette"));
  let ids = 0;
  const scene = draw({
    canvas,
    palette,
    random: random.fork("scene"),
    subjects: subjectWords.filter(([, words]) => words.test(prompt)).map(([subject]) => subject),
    weather: findWord(weatherWords, prompt),
    wishes: /\b(aurora|northern lights|polarlicht)\b|极光|オーロラ|сияни/iu.test(prompt) ? ["aurora"] : [],
    createId() {
      ids += 1;
      return `p${ids}`;
    },
  });
  return { scene, palette };
}

function findWord<T>(table: readonly (readonly [T, RegExp])[], prompt: string): T | null {
  return table.find(([, words]) => words.test(prompt))?.[0] ?? null;
}

function kindHasWord(prompt: string): boolean {
  return findWord(kindWords, prompt) !== null;
}

/** What is asked for by name needs a stage to stand on. */
function chooseKind(prompt: string, random: SeededRandom): SceneKind {
  const subject = findWord(subjectWords, prompt);
  if (subject === null) return random.pick(kindNames);
  return random.pick(subject === "cat" ? ["night", "city", "poster"] : ["meadow", "mountains", "night"]);
}

import type { Mood } from "./palette.ts";

/** The scenes that an image can show. */
export type SceneKind =
  | "mountains"
  | "sea"
  | "city"
  | "street"
  | "night"
  | "forest"
  | "desert"
  | "meadow"
  | "space"
  | "kitchen"
  | "bedroom"
  | "office"
  | "parlour"
  | "cafe"
  | "carriage"
  | "station"
  | "still"
  | "portrait"
  | "botanical"
  | "poster"
  | "currents";

export type SceneForm = "portrait" | "badge" | "poster";

/** What kind of image a prompt asks for, whatever it shows. */
export const formWords: readonly [SceneForm, RegExp][] = [
  ["portrait", /\b(portrait|headshot|head and shoulders|selfie|porträt|retrato)\b|肖像|头像|портрет/iu],
  ["badge", /\b(logos?|icons?|emblem|badge|stickers?|mascot)\b|标志|图标|логотип/iu],
  ["poster", /\b(posters?|flyer|book cover|album cover|plakat|affiche|cartel)\b|海报|плакат/iu],
];

/** A vehicle in a prompt is seen from outside, unless the prompt says otherwise. */
export const vehicleWords = /\b(trains?|trams?|bus|buses|metro|subway|railway|zug)\b|火车|地铁|電車|поезд/giu;
export const insideWords =
  /\b(inside|interior|aboard|compartment|carriage|passengers?|seats?|(?:on|in) (?:the|a) (?:train|tram|bus|metro|subway))\b|车厢/iu;

/** Earlier entries win. Several languages, because an image that ignores its prompt is useless for tests. */
export const kindWords: readonly [SceneKind, RegExp][] = [
  [
    "space",
    /\b((?<!(?:empty|negative|white|blank|copy) )space(?! for)|spaceship|spacecraft|planet|galaxy|nebula|rocket|astronaut|cosmos|cosmic|orbit|saturn|mars|weltraum|espacio|espace)\b|宇宙|星球|行星|太空|银河|космос|планет|الفضاء/iu,
  ],
  [
    "kitchen",
    /\b(kitchen|pantry|dining room|dinner table|breakfast table|stove|küche|cuisine|cocina)\b|厨房|餐桌|台所|кухн/iu,
  ],
  [
    "bedroom",
    /\b(bedroom|bedside|hospital|ward|hotel room|dormitory|nursery|schlafzimmer|chambre|dormitorio)\b|卧室|病房|寝室|спальн/iu,
  ],
  [
    "office",
    /\b(office|library|study|classroom|school|laboratory|lab|newsroom|courtroom|archive|bookshop|büro|bureau|oficina)\b|办公室|图书馆|教室|书房|офис/iu,
  ],
  [
    "cafe",
    /\b(cafe|coffee ?house|coffee shop|bar|pub|restaurant|diner|tavern|inn|bistro|bakery|nightclub|saloon|tea ?house|shop|kneipe)\b|café|咖啡|酒吧|餐厅|饭馆|茶馆|居酒屋|кафе/iu,
  ],
  [
    "station",
    /\b(railway platform|platform|(?<!(?:police|gas|petrol|fire|power|space|radio) )station|bahnhof|bahnsteig|gare|estación)\b|站台|车站|駅|вокзал/iu,
  ],
  [
    "carriage",
    /\b(train|compartment|railway|carriage|subway|metro|tram|bus|zugabteil|zug)\b|火车|地铁|车厢|電車|поезд/iu,
  ],
  [
    "parlour",
    /\b(room|living room|parlou?r|lounge|apartment|loft|flat(?![,-]| (?:design|style|colou?r|vector|lay|illustration))|hall|hallway|corridor|attic|cellar|basement|cottage interior|sofa|couch|armchair|fireplace|indoors|inside the (?:house|cabin|cottage)|wohnzimmer|zimmer|salon|salle|sala)\b|房间|客厅|室内|屋里|部屋|комнат/iu,
  ],
  [
    "street",
    /\b(street|alley|lane|sidewalk|pavement|square|market|doorway|bus stop|corner shop|straße|gasse|rue|calle)\b|街|巷|马路|路口|улиц/iu,
  ],
  [
    "sea",
    /\b(sea|ocean|beach|coast|wave|waves|boat|ship|sail|sailing|lighthouse|harbou?r|whale|island|surf|fish|meer|strand|mer|mar|playa)\b|海|浪|船|鯨|鲸|море|океан|بحر/iu,
  ],
  [
    "city",
    /\b(city|skyline|tower|skyscraper|downtown|urban|cyberpunk|new york|tokyo|paris|london|stadt|ville|ciudad)\b|城市|都市|东京|東京|город|مدينة/iu,
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
    /\b(meadow|park|orchard|(?<!depth of )fields?|grass|farm|countryside|village|hill|hills|garden|picnic|spring|wiese|campo|champ)\b|草原|田|村|поле|луг/iu,
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

export const moodWords: readonly [Mood, RegExp][] = [
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
  ["day", /\b(sunny|noon|midday|daytime|afternoon|daylight|blue sky|summer|sommer|été|verano)\b|晴|夏|лет[оа]/iu],
];

/** Degrees to shift every hue; the palettes are mostly blue above and orange below. */
export const tintWords: readonly [number | "grey", RegExp][] = [
  ["grey", /\b(black and white|monochrome|grayscale|greyscale|noir)\b|黑白|モノクロ/iu],
  [-60, /\b(green|emerald|grün|vert|verde)\b|绿|緑/iu],
  [60, /\b(purple|violet|lila|magenta)\b|紫/iu],
  [28, /\b(pink|rosa)\b|粉/iu],
  [-28, /\b(teal|turquoise|cyan)\b|青/iu],
];

export const weatherWords: readonly ["snow" | "rain", RegExp][] = [
  ["snow", /\b(snow|snowy|snowfall|winter|blizzard|schnee|neige|nieve)\b|雪|снег/iu],
  ["rain", /\b(rain|rainy|storm|regen|pluie|lluvia)\b|雨|дожд/iu],
];

/**
 * Words that name a place in other prompts, but mostly an action in a story: she leaves, he waves. "Night" is a time
 * there.
 */
export const storyWords =
  /\b(space|leaf|leaves|waves?|rose|plants?|spring|fields?|fish|dreams?|flow|ink|music|emotion|paint|painting|texture|marble|shapes?|circle|design|minimal|logo|peak|summit|surf|mar|mer|sail|night|midnight|dark|stars?|nacht|nuit|noche)\b|夜|梦|夢/giu;

/** Words that name a subject in other prompts, but mostly something else in a story: she cannot bear it. */
export const storySubjectWords = /\b(bears?|ducks?|hearts?|balls?|keys?|home|fish|rose|cups?|people)\b/giu;

export function findWord<T>(table: readonly (readonly [T, RegExp])[], text: string): T | null {
  return table.find(([, words]) => words.test(text))?.[0] ?? null;
}

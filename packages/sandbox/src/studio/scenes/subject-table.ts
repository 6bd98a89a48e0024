import type { SceneKind } from "./scene-words.ts";

type SubjectEntry = {
  /** Where it belongs: `land` is only outdoors. Things for a table are shown close up, unless the place is outdoors. */
  on: "ground" | "land" | "sky" | "water" | "table";
  /** Its height in units. */
  size: number;
  /** Its colour if the prompt names none. */
  colour: string;
  /** Scenes that suit it if the prompt names none. */
  homes: readonly [SceneKind, ...SceneKind[]];
};

/** Everything that a prompt can name and a scene can show. */
const subjectTable = {
  cat: { on: "ground", size: 24, colour: "#6b5446", homes: ["night", "city", "meadow"] },
  dog: { on: "ground", size: 28, colour: "#a9743f", homes: ["meadow", "street"] },
  horse: { on: "land", size: 38, colour: "#7a4a2b", homes: ["meadow"] },
  cow: { on: "land", size: 34, colour: "#f2efe6", homes: ["meadow"] },
  sheep: { on: "ground", size: 26, colour: "#f2efe6", homes: ["meadow"] },
  elephant: { on: "land", size: 42, colour: "#8b8f98", homes: ["desert", "meadow"] },
  fox: { on: "ground", size: 28, colour: "#d2691e", homes: ["forest"] },
  bear: { on: "ground", size: 32, colour: "#7a5236", homes: ["forest", "mountains"] },
  rabbit: { on: "ground", size: 24, colour: "#b9a58f", homes: ["meadow"] },
  deer: { on: "ground", size: 36, colour: "#a4703f", homes: ["forest"] },
  lion: { on: "ground", size: 32, colour: "#d6a14a", homes: ["desert"] },
  penguin: { on: "ground", size: 28, colour: "#26282e", homes: ["mountains", "sea"] },
  duck: { on: "water", size: 18, colour: "#f2c94c", homes: ["sea", "mountains"] },
  owl: { on: "ground", size: 26, colour: "#8a6a4a", homes: ["night", "forest"] },
  butterfly: { on: "sky", size: 20, colour: "#e8893a", homes: ["meadow", "botanical"] },
  fish: { on: "water", size: 20, colour: "#e8893a", homes: ["sea"] },
  turtle: { on: "ground", size: 20, colour: "#5f7f4a", homes: ["sea"] },
  whale: { on: "water", size: 24, colour: "#f2ead8", homes: ["sea"] },
  birds: { on: "sky", size: 22, colour: "#f2ead8", homes: ["sea", "meadow"] },
  lighthouse: { on: "land", size: 34, colour: "#f2ead8", homes: ["sea"] },
  boat: { on: "water", size: 24, colour: "#f2ead8", homes: ["sea"] },
  car: { on: "land", size: 24, colour: "#c0392b", homes: ["street", "city"] },
  train: { on: "land", size: 24, colour: "#2f6f8f", homes: ["station", "meadow"] },
  bus: { on: "land", size: 24, colour: "#c8412f", homes: ["street", "city"] },
  truck: { on: "land", size: 24, colour: "#d08a2e", homes: ["street", "meadow"] },
  bicycle: { on: "ground", size: 28, colour: "#2f6f8f", homes: ["street", "meadow"] },
  motorcycle: { on: "land", size: 28, colour: "#b03030", homes: ["street", "desert"] },
  airplane: { on: "sky", size: 20, colour: "#2f6f8f", homes: ["mountains", "sea"] },
  helicopter: { on: "sky", size: 20, colour: "#c0392b", homes: ["city", "mountains"] },
  rocket: { on: "sky", size: 28, colour: "#f2ead8", homes: ["space"] },
  balloon: { on: "sky", size: 28, colour: "#f2ead8", homes: ["meadow", "mountains"] },
  house: { on: "land", size: 20, colour: "#f2ead8", homes: ["meadow", "mountains"] },
  castle: { on: "land", size: 36, colour: "#b7ab98", homes: ["mountains", "meadow"] },
  church: { on: "land", size: 32, colour: "#cdbfa8", homes: ["meadow", "mountains"] },
  windmill: { on: "land", size: 36, colour: "#d9cdb8", homes: ["meadow"] },
  tent: { on: "land", size: 22, colour: "#d9822b", homes: ["night", "mountains"] },
  bridge: { on: "land", size: 24, colour: "#a8503c", homes: ["sea", "city"] },
  tower: { on: "land", size: 50, colour: "#7a6552", homes: ["city"] },
  door: { on: "ground", size: 32, colour: "#7a4a2b", homes: ["street", "meadow"] },
  stairs: { on: "ground", size: 40, colour: "#8b8680", homes: ["street"] },
  tunnel: { on: "land", size: 44, colour: "#4a4642", homes: ["station"] },
  waterfall: { on: "land", size: 40, colour: "#a9d6e5", homes: ["forest", "mountains"] },
  volcano: { on: "land", size: 40, colour: "#3a3034", homes: ["mountains"] },
  tree: { on: "land", size: 38, colour: "#f2ead8", homes: ["meadow"] },
  palm: { on: "land", size: 44, colour: "#4f8a4a", homes: ["sea", "desert"] },
  flower: { on: "ground", size: 30, colour: "#f2c230", homes: ["meadow"] },
  cactus: { on: "land", size: 32, colour: "#4f8a5a", homes: ["desert"] },
  mushroom: { on: "ground", size: 24, colour: "#c0392b", homes: ["forest"] },
  pumpkin: { on: "ground", size: 22, colour: "#e07b2a", homes: ["meadow"] },
  campfire: { on: "land", size: 18, colour: "#ff7a2f", homes: ["night", "forest"] },
  snowman: { on: "land", size: 26, colour: "#c0392b", homes: ["mountains"] },
  rainbow: { on: "sky", size: 56, colour: "#d9534f", homes: ["meadow", "mountains"] },
  lightning: { on: "sky", size: 30, colour: "#ffe39f", homes: ["mountains", "city"] },
  person: { on: "ground", size: 30, colour: "#36558a", homes: ["portrait"] },
  robot: { on: "ground", size: 28, colour: "#8fa3b0", homes: ["poster", "street"] },
  coffeepot: { on: "table", size: 44, colour: "#8fa9ae", homes: ["still"] },
  coffee: { on: "table", size: 34, colour: "#b65c3f", homes: ["still"] },
  cake: { on: "table", size: 40, colour: "#d9a066", homes: ["still"] },
  pizza: { on: "table", size: 44, colour: "#f2c14e", homes: ["still"] },
  apple: { on: "table", size: 36, colour: "#c0392b", homes: ["still"] },
  honey: { on: "table", size: 40, colour: "#f2b134", homes: ["still"] },
  fruit: { on: "table", size: 44, colour: "#c9a27a", homes: ["still"] },
  bread: { on: "table", size: 36, colour: "#c98a45", homes: ["still"] },
  burger: { on: "table", size: 38, colour: "#d9923f", homes: ["still"] },
  noodles: { on: "table", size: 42, colour: "#b03a2e", homes: ["still"] },
  icecream: { on: "table", size: 46, colour: "#e88ba0", homes: ["still"] },
  bottle: { on: "table", size: 46, colour: "#2f5d46", homes: ["still"] },
  sushi: { on: "table", size: 38, colour: "#e8734a", homes: ["still"] },
  donut: { on: "table", size: 36, colour: "#e88ba0", homes: ["still"] },
  book: { on: "table", size: 38, colour: "#8a3b3b", homes: ["still", "office"] },
  clock: { on: "table", size: 40, colour: "#b08a3e", homes: ["still"] },
  camera: { on: "table", size: 36, colour: "#3a3d44", homes: ["still"] },
  laptop: { on: "table", size: 40, colour: "#c3c7cc", homes: ["still", "office"] },
  phone: { on: "table", size: 42, colour: "#5a9bd8", homes: ["still"] },
  key: { on: "table", size: 26, colour: "#c9a23e", homes: ["still"] },
  shoe: { on: "table", size: 36, colour: "#c0392b", homes: ["still"] },
  guitar: { on: "ground", size: 36, colour: "#b5652b", homes: ["still", "cafe"] },
  cello: { on: "ground", size: 34, colour: "#9a4f24", homes: ["still", "parlour"] },
  chair: { on: "ground", size: 28, colour: "#9a6a3c", homes: ["still", "parlour"] },
  lamp: { on: "ground", size: 36, colour: "#d9a441", homes: ["still", "parlour"] },
  umbrella: { on: "ground", size: 30, colour: "#c0392b", homes: ["street"] },
  bookshelf: { on: "ground", size: 34, colour: "#7a5236", homes: ["parlour"] },
  plant: { on: "ground", size: 26, colour: "#b5652b", homes: ["still", "parlour"] },
  candle: { on: "table", size: 40, colour: "#b08a3e", homes: ["still"] },
  suitcase: { on: "table", size: 36, colour: "#8a5a3c", homes: ["still"] },
  ball: { on: "ground", size: 20, colour: "#ffffff", homes: ["meadow"] },
  letter: { on: "table", size: 32, colour: "#b03030", homes: ["still"] },
  heart: { on: "table", size: 36, colour: "#d9435a", homes: ["poster"] },
} as const satisfies Record<string, SubjectEntry>;

export type Subject = keyof typeof subjectTable;

export function describeSubject(subject: Subject): SubjectEntry {
  return subjectTable[subject];
}

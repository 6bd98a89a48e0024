import { createSeededRandom } from "../../seeded-random.ts";

/** The looks of a drawn person. */
export type FigureLooks = {
  skin: string;
  hair: string;
  hairstyle: "short" | "long" | "bun" | "curly" | "bald";
  beard: "none" | "moustache" | "full";
  clothes: string;
  garment: "coat" | "suit" | "dress" | "sweater";
  hasGlasses: boolean;
  hasHat: boolean;
  isOld: boolean;
  /** Relative to others: 1 for most. */
  height: number;
};

type Hue = { words: string; hair: string | null; cloth: string };

const hues: readonly [Hue, ...Hue[]] = [
  {
    words: "red|auburn|ginger|crimson|scarlet|copper|rot|rote[rn]?|rouge|rojo|红|赤",
    hair: "#a2472a",
    cloth: "#a63c38",
  },
  { words: "blond|blonde|golden|fair|金", hair: "#d6ad62", cloth: "#c79a3e" },
  { words: "black|dark|schwarz\\w*|noir|negro|黑", hair: "#231d1f", cloth: "#2b2a30" },
  { words: "gr[ea]y|silver|grau\\w*|gris|灰|银", hair: "#9a9894", cloth: "#7b7f86" },
  { words: "white|snow-white|weiß\\w*|blanc|blanche|blanco|白", hair: "#e6e2da", cloth: "#e3ddd0" },
  { words: "brown|brunette|chestnut|hazel|braun\\w*|brun|marrón|棕|褐", hair: "#5a3a28", cloth: "#70503a" },
  { words: "green|emerald|olive|grün\\w*|vert|verde|绿|緑", hair: "#4f7a52", cloth: "#3f7050" },
  { words: "blue|navy|azure|blau\\w*|bleu|azul|蓝|青", hair: "#3f5f8f", cloth: "#36558a" },
  { words: "yellow|mustard|gelb\\w*|jaune|amarillo|黄", hair: "#d6ad62", cloth: "#d2a53a" },
  { words: "orange|橙", hair: "#c06a2c", cloth: "#c96f33" },
  { words: "purple|violet|lilac|lila|morado|紫", hair: "#6f4f86", cloth: "#6a4b80" },
  { words: "pink|rose|rosa|粉", hair: "#cf8796", cloth: "#c77d8c" },
  { words: "beige|cream|tan|khaki|camel", hair: null, cloth: "#c2a67e" },
];

const hairWords = "hair|haired|curls|haare?|cheveux|pelo|头发|長髪|长发|短发|发|髪";
const beardWords = "beard|bearded|bart|barbe|barba|胡子|胡须|ひげ|борода";
const clothWords =
  "coat|jacket|cardigan|sweater|jumper|pullover|hoodie|shirt|t-shirt|blouse|dress|gown|skirt|suit|uniform|vest|waistcoat|scarf|apron|robe|cloak|overalls|raincoat|parka|jeans|mantel|kleid|hemd|manteau|robe|vestido|abrigo|外套|大衣|裙子|裙|衬衫|毛衣|西装|衣";

const skins: readonly [string, ...string[]] = ["#f0c8a8", "#e3b08c", "#c98f68", "#a56f4c", "#7d5138", "#ecbf9d"];
const hairs: readonly [string, ...string[]] = ["#231d1f", "#5a3a28", "#7a5230", "#3a2a24", "#a2472a", "#d6ad62"];
const cloths: readonly [string, ...string[]] = [
  "#36558a",
  "#3f7050",
  "#a63c38",
  "#6a4b80",
  "#c79a3e",
  "#4b5563",
  "#70503a",
];

const womanWords = "woman|girl|she|her|lady|mother|daughter|sister|grandmother|frau|femme|mujer|女|她";
const manWords = `man|boy|he|his|father|son|brother|grandfather|mann|homme|hombre|男|他|${beardWords}`;
const childWords = "child|kid|boy|girl|little|kind|enfant|niño|niña|孩";
const oldWords = "old|elderly|aged|grandmother|grandfather|wrinkled|alt|vieux|viejo|老";

/** Words for each property; the first match counts. */
const heights = [
  [1.07, "tall|huge|giant|groß|grand|高"],
  [0.92, "short (?:man|woman)|small|petite|小个"],
] as const;
const complexions = [
  ["#7d5138", "dark[- ]skin(?:ned)?|black (?:man|woman)"],
  ["#f3d3ba", "pale|freckle[sd]?"],
] as const;
const beards = [
  ["full", beardWords],
  ["moustache", "moustache|mustache|schnurrbart|小胡子"],
] as const;
const hairstyles = [
  ["bald", "bald|shaved head|glatze|chauve|calvo|秃|光头"],
  ["bun", "bun|braids?|ponytail|updo|dutt|chignon|moño|马尾|发髻"],
  ["curly", "curly|curls|afro|wavy|frizzy|locken|frisé|rizado|卷发"],
  ["long", "long(?:[- ]\\p{L}+){0,2}[- ](?:hair|haired)|long-haired|lange\\w* haare?|长发"],
  ["short", "short(?:[- ]\\p{L}+){0,2}[- ](?:hair|haired)|short-haired|cropped|crew cut|kurze\\w* haare?|短发"],
] as const;
const garments = [
  ["suit", "suit|tie|tuxedo|uniform|anzug|costume|traje|西装"],
  ["coat", "coat|jacket|raincoat|parka|cloak|robe|mantel|manteau|abrigo|外套|大衣"],
  ["dress", "dress|gown|blouse|skirt|kleid|robe|vestido|裙子?"],
  ["sweater", "sweater|jumper|pullover|hoodie|shirt|t-shirt|cardigan|hemd|毛衣|衬衫"],
] as const;

/** By the known words of a description, else by the name: the same description looks the same in every image. */
export function chooseLooks(name: string, appearance: string): FigureLooks {
  const usual = chooseUsual(name, appearance);
  const age = Number(/\b(\d{1,3})\b/u.exec(appearance)?.[1] ?? 35);
  const isChild = has(appearance, childWords) || age < 13;
  const isOld = has(appearance, oldWords) || (age >= 65 && age < 120);
  const hairHue = findHue(appearance, hairWords) ?? findHue(appearance, beardWords);
  const clothHue = findHue(appearance, clothWords) ?? findHue(appearance.replace(/\S*\s?eyes/giu, ""), null);
  const hair = has(appearance, "blonde?|金发") ? "#d6ad62" : isOld ? "#b9b6b0" : usual.hair;
  return {
    skin: findSaid(appearance, complexions) ?? usual.skin,
    hair: hairHue?.hair ?? hair,
    hairstyle: findSaid(appearance, hairstyles) ?? usual.hairstyle,
    beard: findSaid(appearance, beards) ?? "none",
    clothes: clothHue?.cloth ?? usual.clothes,
    garment: findSaid(appearance, garments) ?? usual.chooseGarment(),
    hasGlasses: has(appearance, "glasses|spectacles|brille|lunettes|gafas|眼镜|眼鏡"),
    hasHat: has(appearance, "hat|cap|beanie|beret|helmet|hut|mütze|chapeau|sombrero|帽"),
    isOld,
    height: isChild ? 0.78 : (findSaid(appearance, heights) ?? 1),
  };
}

/** Defaults derived from the name. */
function chooseUsual(name: string, appearance: string) {
  const random = createSeededRandom(`figure/${name.toLowerCase()}`);
  const isFeminine = has(appearance, womanWords) || (!has(appearance, manWords) && random.chance(0.5));
  const [skin, hair, clothes] = [random.pick(skins), random.pick(hairs), random.pick(cloths)];
  const hairstyle = random.pick(
    isFeminine ? (["long", "bun", "curly", "long"] as const) : (["short", "short", "curly"] as const),
  );
  return { skin, hair, clothes, hairstyle, chooseGarment: () => random.pick(["coat", "sweater"] as const) };
}

function findSaid<T>(appearance: string, table: readonly (readonly [value: T, words: string])[]): T | null {
  return table.find(([, words]) => has(appearance, words))?.[0] ?? null;
}

function has(appearance: string, words: string): boolean {
  return new RegExp(`(?<!\\p{Script=Latin})(?:${words})(?!\\p{Script=Latin})`, "iu").test(appearance);
}

/** The colour before a thing, with at most two words between them; of any thing if none is given. */
function findHue(appearance: string, things: string | null): Hue | null {
  const places = hues.flatMap((hue): { hue: Hue; at: number; end: number }[] => {
    const colour = `(?<!\\p{Script=Latin})(?:${hue.words})(?:ish)?`;
    const pattern =
      things === null
        ? `${colour}(?!\\p{Script=Latin})(?![- ]*(?:${hairWords}|${beardWords}|skin|eye))`
        : `${colour}(?:[- ]\\p{L}+){0,2}?[-色的 ]*(?:${things})(?!\\p{Script=Latin})`;
    const match = new RegExp(pattern, "iu").exec(appearance);
    return match === null ? [] : [{ hue, at: match.index, end: match.index + match[0].length }];
  });
  // The first thing, and the colour nearest to it: a dark blue coat is blue.
  return places.toSorted((one, other) => one.end - other.end || other.at - one.at)[0]?.hue ?? null;
}

import type { SeededRandom } from "../../seeded-random.ts";
import { saturateColour, shiftColour } from "./colour.ts";

/** The colours of an image, from far to near. */
export type Palette = {
  /** From the zenith down to the horizon. */
  sky: readonly [string, string, string, string];
  light: string;
  haze: string;
  far: string;
  near: string;
  accent: string;
  isDark: boolean;
};

export type Mood = keyof typeof moods;

const moods = {
  dawn: mood("#35477d #8a7ea8 #e7a9a0 #fbdcb0", "#fff1d0", "#efc3a8", "#9a86a8", "#2a2b45", "#e2725b"),
  day: mood("#2f7fc1 #66aede #a9d8ee #e6f4ee", "#fffbe6", "#cfe6ea", "#88b3bf", "#1f4a46", "#f2b134"),
  golden: mood("#4a2c5e #b0445d #f0803c #fbd077", "#fff3c4", "#f4a263", "#a8506a", "#2b1530", "#ffd166"),
  dusk: mood("#141b41 #3b3a78 #8f5a9b #f0a08a", "#ffd9b8", "#b47aa0", "#5b4a86", "#0f1029", "#ffb86b"),
  night: mood("#050a1f #0b1a3b #163560 #2f5d86", "#f4f1de", "#2c5378", "#1d3f66", "#040914", "#ffe39f"),
  mist: mood("#8fa3ad #aebdc2 #cdd6d6 #e9ebe4", "#fffef5", "#dde3df", "#a3b3b3", "#2d3d40", "#c96f4a"),
  autumn: mood("#5b7c99 #a9b7b0 #ecd2a0 #f6e3b8", "#fff4d2", "#ecc995", "#c98d55", "#4a2418", "#d9480f"),
  winter: mood("#6f93b8 #a7c1d9 #d5e3ee #f7f4ef", "#ffffff", "#e6eef4", "#9db6cc", "#2c4058", "#d1495b"),
  spring: mood("#6fb7d6 #a8d8e0 #fde2e4 #fff3e6", "#fffdf0", "#f7dfe2", "#b7c9a8", "#3c5a3a", "#f28482"),
  neon: mood("#0d0221 #2a0a4a #7a1f8a #ff5fa2", "#ffd1f0", "#a23fa0", "#4b1d78", "#08041a", "#00e5ff"),
  arid: mood("#3f6c8f #a8b9ad #f3cf9b #fbe3b6", "#fff6da", "#f0c794", "#d99a5b", "#6b2d1a", "#c8553d"),
  storm: mood("#1c2733 #3c4d5c #6f8089 #b9b8a6", "#f3ead0", "#8b989c", "#55666f", "#10181f", "#e9c46a"),
} as const;

export const moodNames = Object.keys(moods) as [Mood, ...Mood[]];
const darkMoods: readonly Mood[] = ["dusk", "night", "neon", "storm"];

/** The colours of a mood, slightly different for every image. `tint` is a hue to shift to, or grey. */
export function createPalette(name: Mood, tint: number | "grey" | null, random: SeededRandom): Palette {
  const turn = tint === null || tint === "grey" ? random.between(-13, 13) : tint + random.between(-6, 6);
  const lighter = random.between(-0.02, 0.02);
  const change = (colour: string): string =>
    tint === "grey" ? saturateColour(colour, 0.06) : shiftColour(colour, turn, lighter);
  const { sky, light, haze, far, near, accent } = moods[name];
  return {
    sky: sky.map(change) as [string, string, string, string],
    light: tint === "grey" ? change(light) : light,
    haze: change(haze),
    far: change(far),
    near: change(near),
    accent: change(accent),
    isDark: darkMoods.includes(name),
  };
}

function mood(sky: string, light: string, haze: string, far: string, near: string, accent: string) {
  return { sky: sky.split(" ") as [string, string, string, string], light, haze, far, near, accent };
}

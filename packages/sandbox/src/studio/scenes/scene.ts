import type { SeededRandom } from "../../seeded-random.ts";
import type { FigureLooks } from "../people/figure-looks.ts";
import type { Palette } from "./palette.ts";
import type { Subject } from "./subject-table.ts";

/**
 * The frame of an image. Scenes are wider by `bleed` on both sides, so that a camera can pan. `unit` is a hundredth of
 * the shorter side, for sizes that scale.
 */
export type Canvas = { width: number; height: number; bleed: number; unit: number };

/** An image in layers, farthest first. */
export type Scene = {
  layers: readonly SceneLayer[];
  particles: Particles | null;
  sound: SceneSound;
};

export type SceneLayer = {
  /** SVG elements; ids are unique in the scene. */
  svg: string;
  /** How much the layer moves with the camera: 0 is infinitely far, 1 is nearest. */
  depth: number;
  motion?: LayerMotion;
};

export type LayerMotion =
  | { kind: "drift"; unitsPerSecond: number }
  | { kind: "bob"; units: number; periodSeconds: number; phase: number }
  /** Each row moves separately, like reflections in water. */
  | { kind: "ripple"; units: number; periodSeconds: number }
  | { kind: "twinkle"; periodSeconds: number; phase: number; opacityMin: number };

export type Particles = { kind: "snow" | "rain" | "fireflies" | "petals" | "dust"; count: number; colour: string };

/** The ambient sound of a video of the scene. */
export type SceneSound = "wind" | "surf" | "city" | "crickets" | "rain" | "air";

/** `badge`: a logo or an icon instead of a poster. */
export type SceneWish = "aurora" | "badge";

export type SceneParts = {
  canvas: Canvas;
  palette: Palette;
  random: SeededRandom;
  /** In the order in which the prompt names them. */
  subjects: readonly Subject[];
  /** The colours that the prompt gives to its subjects. */
  colours: ReadonlyMap<Subject, string>;
  /** The looks of the prompt's person. */
  looks: FigureLooks;
  weather: "snow" | "rain" | null;
  wishes: readonly SceneWish[];
  /** Creates an id that is unique in the scene. */
  createId(): string;
};

export function createCanvas(width: number, height: number): Canvas {
  return { width, height, bleed: Math.ceil(width * 0.1), unit: Math.min(width, height) / 100 };
}

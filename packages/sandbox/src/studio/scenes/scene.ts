import type { SeededRandom } from "../../seeded-random.ts";
import type { Palette } from "./palette.ts";

/**
 * The frame of an image. Scenes are drawn wider than it, by `bleed` on both sides, so that a camera can pan over them.
 * `unit` is a hundredth of the shorter side: what is measured in it looks the same in every size.
 */
export type Canvas = { width: number; height: number; bleed: number; unit: number };

/** An image as sheets of glass, the farthest first. */
export type Scene = {
  layers: readonly SceneLayer[];
  particles: Particles | null;
  sound: SceneSound;
};

export type SceneLayer = {
  /** Elements of SVG; ids are unique in the scene. */
  svg: string;
  /** How much the layer moves with the camera: 0 is infinitely far away, 1 is as near as can be. */
  depth: number;
  motion?: LayerMotion;
};

export type LayerMotion =
  | { kind: "drift"; unitsPerSecond: number }
  | { kind: "bob"; units: number; periodSeconds: number; phase: number }
  /** Each row moves by itself, as reflections in water do. */
  | { kind: "ripple"; units: number; periodSeconds: number }
  | { kind: "twinkle"; periodSeconds: number; phase: number; opacityMin: number };

export type Particles = { kind: "snow" | "rain" | "fireflies" | "petals" | "dust"; count: number; colour: string };

/** What a video of the scene sounds like beside its music. */
export type SceneSound = "wind" | "surf" | "city" | "crickets" | "rain" | "air";

/** Things that a prompt asks for by name and that many scenes can show. */
export type Subject =
  | "cat"
  | "boat"
  | "house"
  | "tree"
  | "balloon"
  | "lighthouse"
  | "whale"
  | "birds"
  | "rocket"
  | "person";

export type SceneParts = {
  canvas: Canvas;
  palette: Palette;
  random: SeededRandom;
  subjects: readonly Subject[];
  weather: "snow" | "rain" | null;
  wishes: readonly "aurora"[];
  /** Makes an id that no other element of the scene has. */
  createId(): string;
};

export function createCanvas(width: number, height: number): Canvas {
  return { width, height, bleed: Math.ceil(width * 0.1), unit: Math.min(width, height) / 100 };
}

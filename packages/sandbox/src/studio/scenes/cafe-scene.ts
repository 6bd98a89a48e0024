import { mixColours } from "./colour.ts";
import { box } from "./furniture.ts";
import { chooseRoomColours, type RoomColours } from "./room-colours.ts";
import { drawLamp, drawWalls, drawWindow } from "./room-scene.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { drawCast } from "./scene-staging.ts";
import { drawCircle, drawGlow, round } from "./svg-shapes.ts";

/** A café or a bar: a counter, bottles on lit shelves, and a row of warm lamps. */
export function drawCafe(parts: SceneParts): Scene {
  const { canvas, palette, random, weather } = parts;
  const { width, height, unit } = canvas;
  const colours = warm(chooseRoomColours(parts));
  const floor = height * 0.84;
  const isLeft = random.chance(0.5);
  const lamps = [0.14, 0.38, 0.62, 0.86].map((share) => [width * share, height * 0.2] as const);
  const glow = palette.isDark ? 0.6 : 0.34;
  return {
    layers: [
      { svg: drawWalls(parts, colours, floor), depth: 0.12 },
      drawWindow(parts, colours, {
        x: width * (isLeft ? 0.2 : 0.8),
        top: height * 0.22,
        wide: unit * 40,
        tall: height * 0.36,
        hasLight: true,
      }),
      { svg: drawBoard(parts, colours, width * (isLeft ? 0.47 : 0.53)), depth: 0.2 },
      { svg: drawBottles(parts, colours, isLeft), depth: 0.24 },
      {
        svg: lamps
          .map((lamp) => drawGlow(parts, [lamp[0], lamp[1] + unit * 6], unit * 40, colours.lamp, glow))
          .join(""),
        depth: 0.3,
        motion: { kind: "twinkle", periodSeconds: 4.3, phase: 0.4, opacityMin: 0.84 },
      },
      drawCounter(parts, colours, floor),
      { svg: lamps.map((lamp) => drawLamp(parts, colours, lamp)).join(""), depth: 0.5 },
      ...drawCast(parts, { ground: height * 0.9, isRoom: true, scale: 1.4 }),
      { svg: drawBokeh(parts, colours), depth: 0.7, motion: { kind: "drift", unitsPerSecond: 0.3 } },
    ],
    particles: { kind: "dust", count: 22, colour: colours.lamp },
    sound: weather === "rain" ? "rain" : "city",
  };
}

function warm(colours: RoomColours): RoomColours {
  return {
    ...colours,
    wall: mixColours(colours.wall, "#6b3d2c", 0.45),
    wood: mixColours(colours.wood, "#5a3320", 0.4),
    lamp: "#ffc277",
  };
}

/** The menu board, with illegible text. */
function drawBoard({ canvas, random }: SceneParts, { wood }: RoomColours, x: number): string {
  const { unit, height } = canvas;
  const [left, top] = [x - unit * 10, height * 0.28];
  const lines = Array.from({ length: 5 }, (_, index) =>
    box(
      left + unit * 2.4,
      top + unit * (3 + index * 3.6),
      unit * random.between(7, 15),
      unit * 0.7,
      "#b9b3a4",
      unit * 0.3,
    ),
  );
  return (
    box(left - unit, top - unit, unit * 22, unit * 24, wood) +
    box(left, top, unit * 20, unit * 22, "#26292a") +
    lines.join("")
  );
}

function drawBottles(parts: SceneParts, { wood, shade, lamp, paper }: RoomColours, isLeft: boolean): string {
  const { canvas, random } = parts;
  const { width, height, unit } = canvas;
  const wide = unit * 44;
  const left = isLeft ? width * 0.98 - wide : width * 0.02;
  const glass = ["#5f7f4a", "#8c4a2e", "#b58a3c", "#4a6d78", "#7a2f3a"] as const;
  const rows = [0.36, 0.5, 0.64].map((share) => {
    const y = height * share;
    const bottles: string[] = [];
    for (let at = unit; at < wide - unit * 3; at += unit * random.between(3, 4.6)) {
      const tall = unit * random.between(6, 9.4);
      const fill = mixColours(random.pick(glass), lamp, random.between(0.1, 0.35));
      bottles.push(box(left + at, y - tall * 0.66, unit * 2.3, tall * 0.66, fill, unit * 0.5));
      bottles.push(box(left + at + unit * 0.75, y - tall, unit * 0.8, tall * 0.4, fill));
    }
    const light = drawGlow(parts, [left + wide / 2, y - unit * 3], wide * 0.5, lamp, 0.3);
    return `${light}${bottles.join("")}${box(left, y, wide, unit * 1.1, mixColours(wood, paper, 0.2))}`;
  });
  return box(left - unit, height * 0.24, wide + 2 * unit, height * 0.44, mixColours(wood, shade, 0.55)) + rows.join("");
}

function drawCounter({ canvas }: SceneParts, { wood, shade, paper }: RoomColours, floor: number): SceneLayer {
  const { width, bleed, unit, height } = canvas;
  const top = height * 0.7;
  const panels: string[] = [];
  for (let x = -bleed; x < width + bleed; x += unit * 17) {
    panels.push(
      box(x + unit, top + unit * 5, unit * 15, floor - top - unit * 3, mixColours(wood, shade, 0.36), unit * 0.6),
    );
  }
  const stools = [0.12, 0.88].map(
    (share) =>
      `<ellipse cx="${round(width * share)}" cy="${round(height * 0.82)}" rx="${round(unit * 7)}" ry="${round(unit * 1.8)}" fill="${mixColours(wood, paper, 0.25)}"/>${box(width * share - unit * 0.7, height * 0.82, unit * 1.4, height * 0.2, shade)}`,
  );
  const svg =
    box(-bleed, top, width + 2 * bleed, floor - top + unit * 3, mixColours(wood, shade, 0.15)) +
    panels.join("") +
    box(-bleed, top - unit * 1.2, width + 2 * bleed, unit * 3, mixColours(wood, paper, 0.4)) +
    stools.join("");
  return { svg, depth: 0.4 };
}

/** Out-of-focus lights near the camera. */
function drawBokeh({ canvas, random }: SceneParts, { lamp }: RoomColours): string {
  const { width, height, unit } = canvas;
  return Array.from({ length: 12 }, (_, index) => {
    const x = width * (index % 2 === 0 ? random.between(-0.04, 0.2) : random.between(0.8, 1.04));
    return drawCircle(
      [x, height * random.between(0.06, 0.5)],
      unit * random.between(1.4, 4.2),
      mixColours(lamp, "#ffffff", random.between(0, 0.4)),
      `fill-opacity="${round(random.between(0.06, 0.2))}"`,
    );
  }).join("");
}

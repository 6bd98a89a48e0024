import { mixColours } from "./colour.ts";
import { drawFurniture } from "./furniture.ts";
import { chooseRoomColours, type RoomColours, type RoomKind } from "./room-colours.ts";
import type { Scene, SceneLayer, SceneParts } from "./scene.ts";
import { drawCast } from "./scene-staging.ts";
import { drawBand, drawCircle, drawGlow, drawVerticalGradient, type Point, round } from "./svg-shapes.ts";

/** A room with a window, a lamp and its furniture. */
export function drawRoom(parts: SceneParts, kind: RoomKind): Scene {
  const { canvas, palette, random, weather } = parts;
  const { width, height, unit } = canvas;
  const colours = chooseRoomColours(parts);
  const floor = height * 0.8;
  const isLeft = random.chance(0.5);
  const windowX = width * (isLeft ? 0.24 : 0.76);
  const lamp: Point = [width * (isLeft ? 0.72 : 0.28), height * 0.3];
  const isTrain = kind === "carriage";
  return {
    layers: [
      { svg: drawWalls(parts, colours, floor), depth: 0.12 },
      ...(isTrain ? [0.2, 0.8] : [windowX / width]).map((share, index) =>
        drawWindow(parts, colours, {
          x: width * share,
          top: height * 0.13,
          wide: unit * 46,
          tall: height * 0.46,
          hasLight: index === 0,
        }),
      ),
      { svg: drawLampLight(parts, colours, lamp), depth: 0.2, motion: glowMotion },
      ...drawFurniture(parts, { kind, colours, floor, lampX: lamp[0] }),
      ...(isTrain ? [] : [{ svg: drawLamp(parts, colours, lamp), depth: 0.55 }]),
      ...drawCast(parts, { ground: height * 0.88, isRoom: true, scale: 1.4 }),
      { svg: drawSideLight(parts, isLeft), depth: 0.2 },
    ],
    particles: { kind: "dust", count: 26, colour: mixColours(palette.light, colours.lamp, 0.4) },
    sound: weather === "rain" ? "rain" : isTrain ? "city" : "air",
  };
}

const glowMotion = { kind: "twinkle", periodSeconds: 3.7, phase: 0.6, opacityMin: 0.86 } as const;

export function drawWalls(parts: SceneParts, { wall, wood, paper, shade }: RoomColours, floor: number): string {
  const { canvas, palette } = parts;
  const { height, unit, width, bleed } = canvas;
  const id = parts.createId();
  const surface = drawVerticalGradient(id, [
    [0, mixColours(wall, shade, palette.isDark ? 0.55 : 0.22)],
    [0.6, wall],
    [1, mixColours(wall, shade, 0.2)],
  ]);
  const ground = drawVerticalGradient(`${id}f`, [
    [0, mixColours(wood, shade, 0.45)],
    [1, mixColours(wood, shade, 0.12)],
  ]);
  const boards = Array.from({ length: 5 }, (_, index) => {
    const y = floor + (height - floor) * ((index + 1) / 6) ** 1.5;
    return `<rect x="${-bleed}" y="${round(y)}" width="${width + 2 * bleed}" height="${round(unit * 0.18)}" fill="${shade}" fill-opacity="0.25"/>`;
  });
  return `<defs>${surface}${ground}</defs>${drawBand(canvas, 0, floor, `url(#${id})`)}${drawBand(canvas, floor, height + 2, `url(#${id}f)`)}${boards.join("")}${drawBand(canvas, floor - unit * 2.6, floor, mixColours(paper, wall, 0.55))}${drawBand(canvas, floor - unit * 0.3, floor, shade)}`;
}

/** `hasLight`: the sun or moon is visible through it. */
export type WindowPlace = { x: number; top: number; wide: number; tall: number; hasLight: boolean };

/** A window with its view: the sky, hills or roofs, and rain if it rains. */
export function drawWindow(parts: SceneParts, colours: RoomColours, place: WindowPlace): SceneLayer {
  const { canvas, palette, random, createId, weather } = parts;
  const { unit } = canvas;
  const { x, top, wide, tall } = place;
  const id = createId();
  const left = x - wide / 2;
  const [zenith, upper, lower, edge] = palette.sky;
  const sky = drawVerticalGradient(`${id}s`, [
    [0, zenith],
    [0.45, upper],
    [0.75, lower],
    [1, edge],
  ]);
  const box = (dx: number, dy: number, w: number, h: number, fill: string): string =>
    `<rect x="${round(left + dx)}" y="${round(top + dy)}" width="${round(w)}" height="${round(h)}" fill="${fill}"/>`;
  const light: Point = [left + wide * random.between(0.3, 0.7), top + tall * random.between(0.24, 0.42)];
  const roofs = Array.from({ length: 9 }, (_, index) => {
    const rise = tall * random.between(0.12, 0.34);
    return box((index * wide) / 9, tall - rise, wide / 9 + 1, rise, mixColours(palette.far, palette.near, 0.55));
  });
  const stars = palette.isDark
    ? Array.from({ length: 26 }, () =>
        drawCircle(
          [left + wide * random.next(), top + tall * 0.6 * random.next()],
          unit * random.between(0.1, 0.22),
          palette.light,
          `fill-opacity="${round(random.between(0.3, 0.9))}"`,
        ),
      ).join("")
    : "";
  const drops =
    weather === null
      ? ""
      : Array.from({ length: 60 }, () => {
          const [dropX, dropY] = [left + wide * random.next(), top + tall * random.next()];
          return weather === "snow"
            ? drawCircle([dropX, dropY], unit * random.between(0.2, 0.45), "#ffffff", 'fill-opacity="0.8"')
            : `<path d="M${round(dropX)} ${round(dropY)}l${round(-unit * 0.4)} ${round(unit * 3)}" stroke="${palette.light}" stroke-width="${round(unit * 0.16)}" stroke-opacity="0.5"/>`;
        }).join("");
  const view = `${box(0, 0, wide, tall, `url(#${id}s)`)}${stars}${place.hasLight ? drawGlow(parts, light, unit * 16, palette.light, 0.75) + drawCircle(light, unit * 2.6, mixColours(palette.light, "#ffffff", 0.3)) : ""}${roofs.join("")}${drops}`;
  const bar = unit * 1.1;
  const frame = mixColours(colours.paper, colours.wall, 0.2);
  const bars = [
    box(-bar, -bar, wide + 2 * bar, bar, frame),
    box(-bar, tall, wide + 2 * bar, bar * 1.8, frame),
    box(-bar, 0, bar, tall, frame),
    box(wide, 0, bar, tall, frame),
    box(wide / 2 - bar / 3, 0, bar * 0.66, tall, frame),
    box(0, tall * 0.42, wide, bar * 0.6, frame),
  ];
  const svg = `<defs>${sky}<clipPath id="${id}"><rect x="${round(left)}" y="${round(top)}" width="${round(wide)}" height="${round(tall)}"/></clipPath></defs><g clip-path="url(#${id})">${view}</g>${bars.join("")}${drawCurtains(parts, colours, place)}`;
  return { svg, depth: 0.22 };
}

function drawCurtains(
  { canvas, createId }: SceneParts,
  { cloth, shade }: RoomColours,
  { x, top, wide, tall }: WindowPlace,
): string {
  const { unit } = canvas;
  const id = createId();
  const folds = [0, 0.2, 0.4, 0.6, 0.8, 1].map(
    (offset, index) =>
      `<stop offset="${offset}" stop-color="${index % 2 === 0 ? mixColours(cloth, shade, 0.35) : mixColours(cloth, "#ffffff", 0.08)}"/>`,
  );
  const [upper, lower] = [top - unit * 3, top + tall + unit * 7];
  const side = (sign: -1 | 1): string => {
    const outer = x + sign * (wide / 2 + unit * 5);
    const inner = x + sign * (wide / 2 - unit * 2);
    const waist = x + sign * (wide / 2 + unit * 1.4);
    return `<path d="M${round(outer)} ${round(upper)}L${round(inner - sign * unit * 3)} ${round(upper)}Q${round(inner)} ${round(top + tall * 0.4)} ${round(waist)} ${round(top + tall * 0.62)}Q${round(inner)} ${round(top + tall * 0.9)} ${round(inner)} ${round(lower)}L${round(outer)} ${round(lower)}Z" fill="url(#${id})"/>`;
  };
  const rod = `<rect x="${round(x - wide / 2 - unit * 7)}" y="${round(upper - unit * 0.6)}" width="${round(wide + unit * 14)}" height="${round(unit * 0.9)}" rx="${round(unit * 0.45)}" fill="${shade}"/>`;
  return `<defs><linearGradient id="${id}" x1="0" x2="1" y1="0" y2="0">${folds.join("")}</linearGradient></defs>${side(-1)}${side(1)}${rod}`;
}

/** The lamp's light on the wall: strong if it is dark outside. */
function drawLampLight(parts: SceneParts, { lamp }: RoomColours, [x, y]: Point): string {
  const { canvas, palette } = parts;
  return drawGlow(parts, [x, y + canvas.unit * 8], canvas.unit * 78, lamp, palette.isDark ? 0.62 : 0.2);
}

/** A hanging lamp. */
export function drawLamp({ canvas, palette }: SceneParts, { lamp, shade, wood }: RoomColours, [x, y]: Point): string {
  const { unit } = canvas;
  const hood = mixColours(wood, shade, 0.3);
  const lit = mixColours(lamp, "#ffffff", palette.isDark ? 0.45 : 0.6);
  return `<rect x="${round(x - unit * 0.15)}" y="-2" width="${round(unit * 0.3)}" height="${round(y)}" fill="${shade}"/>
<path d="M${round(x - unit * 2)} ${round(y - unit * 3)}Q${round(x)} ${round(y - unit * 5)} ${round(x + unit * 2)} ${round(y - unit * 3)}L${round(x + unit * 7)} ${round(y + unit * 2)}L${round(x - unit * 7)} ${round(y + unit * 2)}Z" fill="${hood}"/>
<ellipse cx="${round(x)}" cy="${round(y + unit * 2)}" rx="${round(unit * 7)}" ry="${round(unit * 1.1)}" fill="${lit}"/>`;
}

/** Rooms are darkest in their lower corners. */
function drawSideLight({ canvas, palette, createId }: SceneParts, isLeft: boolean): string {
  const { width, height, bleed } = canvas;
  const id = createId();
  const dark = mixColours(palette.near, "#0c0a10", 0.5);
  const strength = palette.isDark ? 0.5 : 0.28;
  const gradient = `<linearGradient id="${id}" x1="${isLeft ? 1 : 0}" x2="${isLeft ? 0 : 1}" y1="1" y2="0.2"><stop offset="0" stop-color="${dark}" stop-opacity="${strength}"/><stop offset="0.5" stop-color="${dark}" stop-opacity="0"/></linearGradient>`;
  return `<defs>${gradient}</defs><rect x="${-bleed}" y="0" width="${width + 2 * bleed}" height="${height + 2}" fill="url(#${id})"/>`;
}

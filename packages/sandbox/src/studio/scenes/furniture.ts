import { mixColours } from "./colour.ts";
import type { RoomColours, RoomKind } from "./room-colours.ts";
import type { SceneLayer, SceneParts } from "./scene.ts";
import { drawCircle, type Point, round } from "./svg-shapes.ts";

type FurnitureParts = { kind: RoomKind; colours: RoomColours; floor: number; lampX: number };

type Box = (x: number, y: number, wide: number, tall: number, fill: string, radius?: number) => string;

export const box: Box = (x, y, wide, tall, fill, radius = 0) =>
  `<rect x="${round(x)}" y="${round(y)}" width="${round(wide)}" height="${round(tall)}" rx="${round(radius)}" fill="${fill}"/>`;

/** Furniture along the wall: people are in the middle. */
export function drawFurniture(parts: SceneParts, furniture: FurnitureParts): SceneLayer[] {
  switch (furniture.kind) {
    case "kitchen":
      return drawKitchen(parts, furniture);
    case "bedroom":
      return drawBedroom(parts, furniture);
    case "office":
      return drawOffice(parts, furniture);
    case "parlour":
      return drawParlour(parts, furniture);
    case "carriage":
      return drawCarriage(parts, furniture);
  }
}

function drawKitchen(parts: SceneParts, { colours, floor, lampX }: FurnitureParts): SceneLayer[] {
  const { canvas, random } = parts;
  const { width, bleed, unit, height } = canvas;
  const { wood, paper, shade } = colours;
  const top = floor - unit * 24;
  const doors: string[] = [];
  for (let x = -bleed; x < width + bleed; x += unit * 15) {
    doors.push(box(x + unit * 0.5, top + unit * 3.4, unit * 14, floor - top - unit * 5, mixColours(wood, paper, 0.22)));
    doors.push(box(x + unit * 11.6, top + unit * 6, unit * 0.7, unit * 4.5, mixColours(shade, paper, 0.5), unit * 0.3));
  }
  const counter =
    box(-bleed, top, width + 2 * bleed, floor - top, mixColours(wood, shade, 0.3)) +
    doors.join("") +
    box(-bleed, top - unit * 1.4, width + 2 * bleed, unit * 2.6, mixColours(paper, wood, 0.35));
  const shelfY = height * 0.34;
  const jars = drawJars(parts, [lampX - unit * 20, shelfY], unit * 40, colours);
  const shelf = box(lampX - unit * 22, shelfY, unit * 44, unit * 1.3, wood) + jars;
  const kettleX = lampX + unit * random.between(-14, 14);
  const kettle = `<path d="M${round(kettleX - unit * 4)} ${round(top - unit * 1.4)}Q${round(kettleX - unit * 5)} ${round(top - unit * 9)} ${round(kettleX)} ${round(top - unit * 9.4)}Q${round(kettleX + unit * 5)} ${round(top - unit * 9)} ${round(kettleX + unit * 4)} ${round(top - unit * 1.4)}Z" fill="${mixColours(colours.cloth, paper, 0.25)}"/><path d="M${round(kettleX - unit * 3)} ${round(top - unit * 9)}Q${round(kettleX)} ${round(top - unit * 15)} ${round(kettleX + unit * 3)} ${round(top - unit * 9)}" stroke="${shade}" stroke-width="${round(unit * 0.8)}" fill="none"/>`;
  return [
    { svg: shelf, depth: 0.25 },
    { svg: counter + kettle, depth: 0.35 },
  ];
}

function drawJars(
  { random }: SceneParts,
  [x, y]: Point,
  wide: number,
  { paper, cloth, wood, lamp }: RoomColours,
): string {
  const jars: string[] = [];
  for (let at = 0; at < wide; ) {
    const [across, tall] = [wide * random.between(0.06, 0.11), wide * random.between(0.09, 0.2)];
    const fill = mixColours(random.pick([paper, cloth, wood, lamp]), paper, random.between(0.1, 0.4));
    jars.push(box(x + at, y - tall, across, tall, fill, across * 0.18));
    at += across * random.between(1.1, 1.7);
  }
  return jars.join("");
}

function drawBedroom(parts: SceneParts, { colours, floor, lampX }: FurnitureParts): SceneLayer[] {
  const { unit } = parts.canvas;
  const { wood, cloth, paper, shade } = colours;
  const left = lampX - unit * 34;
  const head = box(left, floor - unit * 42, unit * 68, unit * 44, wood, unit * 5);
  const panel = box(left + unit * 3, floor - unit * 38, unit * 62, unit * 34, mixColours(wood, shade, 0.2), unit * 3);
  const pillows = [left + unit * 6, left + unit * 36]
    .map((x) => box(x, floor - unit * 26, unit * 26, unit * 14, paper, unit * 5))
    .join("");
  const blanket =
    box(left - unit * 2, floor - unit * 16, unit * 72, unit * 20, cloth, unit * 3) +
    box(left - unit * 2, floor - unit * 16, unit * 72, unit * 5, mixColours(cloth, paper, 0.45), unit * 2.4);
  const painting = drawPainting(parts, colours, [lampX - unit * 24, parts.canvas.height * 0.32]);
  return [
    { svg: painting, depth: 0.18 },
    { svg: head + panel + pillows, depth: 0.34 },
    { svg: blanket, depth: 0.42 },
  ];
}

function drawOffice(parts: SceneParts, { colours, floor, lampX }: FurnitureParts): SceneLayer[] {
  const { canvas } = parts;
  const { unit, height } = canvas;
  const { wood, shade, paper } = colours;
  const shelfLeft = lampX - unit * 26;
  const shelfTop = height * 0.14;
  const rows = [0, 1, 2].map((row) => {
    const y = shelfTop + unit * 17 * (row + 1);
    return (
      drawBooks(parts, colours, { x: shelfLeft + unit * 2, y, wide: unit * 48, tall: unit * 13 }) +
      box(shelfLeft, y, unit * 52, unit * 1.2, wood)
    );
  });
  const back = box(shelfLeft, shelfTop, unit * 52, unit * 54, mixColours(wood, shade, 0.5));
  const deskY = floor - unit * 20;
  const screen =
    box(lampX + unit * 2, deskY - unit * 19, unit * 28, unit * 17, shade, unit) +
    box(lampX + unit * 3, deskY - unit * 18, unit * 26, unit * 15, mixColours(paper, "#7fa8c9", 0.6)) +
    box(lampX + unit * 14, deskY - unit * 3, unit * 4, unit * 3, shade);
  const desk =
    box(lampX - unit * 36, deskY, unit * 80, unit * 3, mixColours(wood, paper, 0.15)) +
    box(lampX - unit * 32, deskY + unit * 3, unit * 6, unit * 20, wood) +
    box(lampX + unit * 34, deskY + unit * 3, unit * 6, unit * 20, wood);
  return [
    { svg: back + rows.join(""), depth: 0.24 },
    { svg: desk + screen, depth: 0.42 },
  ];
}

type BookRow = { x: number; y: number; wide: number; tall: number };

function drawBooks(
  { random }: SceneParts,
  { cloth, paper, wood, wall }: RoomColours,
  { x, y, wide, tall }: BookRow,
): string {
  const books: string[] = [];
  for (let at = 0; at < wide; ) {
    const across = wide * random.between(0.025, 0.055);
    const high = tall * random.between(0.65, 1);
    const spine = mixColours(
      random.pick([cloth, paper, wood, wall, "#8c3f3a", "#3f5f6f"]),
      wood,
      random.between(0, 0.4),
    );
    if (random.chance(0.93)) books.push(box(x + at, y - high, across * 0.94, high, spine));
    at += across;
  }
  return books.join("");
}

function drawParlour(parts: SceneParts, { colours, floor, lampX }: FurnitureParts): SceneLayer[] {
  const { canvas } = parts;
  const { unit, height } = canvas;
  const { cloth, shade, paper, wood } = colours;
  const left = lampX - unit * 32;
  const seat = mixColours(cloth, paper, 0.12);
  const sofa =
    box(left + unit * 3, floor - unit * 30, unit * 58, unit * 24, cloth, unit * 5) +
    box(left - unit * 2, floor - unit * 21, unit * 11, unit * 22, mixColours(cloth, shade, 0.18), unit * 4) +
    box(left + unit * 55, floor - unit * 21, unit * 11, unit * 22, mixColours(cloth, shade, 0.18), unit * 4) +
    box(left + unit * 8, floor - unit * 15, unit * 24, unit * 11, seat, unit * 2.5) +
    box(left + unit * 32, floor - unit * 15, unit * 24, unit * 11, seat, unit * 2.5) +
    box(left + unit * 6, floor - unit * 1, unit * 3, unit * 4, wood) +
    box(left + unit * 55, floor - unit * 1, unit * 3, unit * 4, wood);
  const rug = `<ellipse cx="${round(lampX)}" cy="${round(floor + unit * 9)}" rx="${round(unit * 58)}" ry="${round(unit * 5)}" fill="${mixColours(cloth, wood, 0.5)}" fill-opacity="0.7"/>`;
  return [
    { svg: drawPainting(parts, colours, [lampX + unit * 25, height * 0.34]), depth: 0.18 },
    { svg: rug + sofa, depth: 0.38 },
  ];
}

/** A framed landscape. */
function drawPainting({ palette, canvas }: SceneParts, { wood, paper }: RoomColours, [x, y]: Point): string {
  const { unit } = canvas;
  const [wide, tall] = [unit * 22, unit * 16];
  return (
    box(x - wide / 2 - unit, y - tall / 2 - unit, wide + 2 * unit, tall + 2 * unit, wood, unit * 0.3) +
    box(x - wide / 2, y - tall / 2, wide, tall, mixColours(palette.sky[2], paper, 0.4)) +
    drawCircle([x + unit * 4, y - unit * 2], unit * 2.2, mixColours(palette.accent, paper, 0.3)) +
    `<path d="M${round(x - wide / 2)} ${round(y + tall / 2)}L${round(x - unit * 4)} ${round(y - unit)}L${round(x + unit * 2)} ${round(y + unit * 3)}L${round(x + unit * 6)} ${round(y)}L${round(x + wide / 2)} ${round(y + tall / 2)}Z" fill="${mixColours(palette.far, paper, 0.2)}"/>`
  );
}

/** Seats that face each other, with the racks for luggage above. */
function drawCarriage({ canvas }: SceneParts, { colours, floor }: FurnitureParts): SceneLayer[] {
  const { width, unit, bleed } = canvas;
  const { cloth, shade, paper, wood } = colours;
  const seat = (x: number, sign: -1 | 1): string =>
    box(x - unit * 9, floor - unit * 44, unit * 18, unit * 50, cloth, unit * 4) +
    box(x - unit * 8, floor - unit * 44, unit * 16, unit * 11, mixColours(cloth, paper, 0.45), unit * 3) +
    box(
      Math.min(x, x + sign * unit * 24),
      floor - unit * 14,
      unit * 24,
      unit * 12,
      mixColours(cloth, shade, 0.2),
      unit * 3,
    );
  const rack =
    box(-bleed, unit * 7, width + 2 * bleed, unit * 1.2, mixColours(paper, shade, 0.4)) +
    box(-bleed, unit * 9.4, width + 2 * bleed, unit * 0.5, mixColours(paper, shade, 0.5));
  const table = box(width * 0.5 - unit * 16, floor - unit * 20, unit * 32, unit * 2, wood, unit);
  return [
    { svg: rack, depth: 0.3 },
    { svg: table, depth: 0.36 },
    { svg: seat(width * 0.04, 1) + seat(width * 0.96, -1), depth: 0.5 },
  ];
}

// Lists which of the given characters are drawn as a box, the mark of a missing glyph. A separate process, because
// fonts can only be configured per process.
import { json } from "node:stream/consumers";
import sharp from "sharp";

const side = 96;

/** Whether the drawing has a frame: ink along all four edges of its bounding box. */
async function isBoxed(character: string): Promise<boolean> {
  const text = `<text x="20" y="70" font-family="DejaVu Sans" font-size="56">${character}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${text}</svg>`;
  const alpha = await sharp(Buffer.from(svg)).extractChannel(3).raw().toBuffer();
  const isInked = (x: number, y: number): boolean => (alpha[y * side + x] ?? 0) > 60;
  const range = Array.from({ length: side }, (_, index) => index);
  const rows = range.filter((y) => range.some((x) => isInked(x, y)));
  const columns = range.filter((x) => range.some((y) => isInked(x, y)));
  // The frame is thin, a little soft, and wider than a letter that is a single stroke.
  const hasRow = (near: readonly number[]): boolean => isFull(columns, (x) => near.some((y) => isInked(x, y)));
  const hasColumn = (near: readonly number[]): boolean => isFull(rows, (y) => near.some((x) => isInked(x, y)));
  const ends = <T>(list: readonly T[]): T[][] => [list.slice(0, 3), list.slice(-3)];
  return columns.length > side / 4 && ends(rows).every(hasRow) && ends(columns).every(hasColumn);
}

function isFull(places: readonly number[], look: (place: number) => boolean): boolean {
  return places.filter(look).length > places.length * 0.9;
}

const characters = (await json(process.stdin)) as string[];
const boxed: string[] = [];
for (const character of characters) if (await isBoxed(character)) boxed.push(character);
process.stdout.write(JSON.stringify(boxed));

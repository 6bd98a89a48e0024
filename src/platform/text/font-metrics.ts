import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Bundled fonts: rendering does not depend on the machine. */
export const fontsDir = join(import.meta.dirname, "../../../assets/fonts");

export type FontMetrics = {
  /** The width of a character in em; `null` if no bundled font has it. */
  findWidth(character: string): number | null;
  /** The first bundled font that has all characters of a grapheme cluster, or `null`. */
  findFont(cluster: string): FontName | null;
};

/** In the order of preference. */
export const fontNames = ["DejaVuSans.ttf", "NotoSansSC-Regular.ttf"] as const;
export type FontName = (typeof fontNames)[number];

type Font = { name: FontName; widths: ReadonlyMap<number, number> };

let loaded: FontMetrics | null = null;

export function loadFontMetrics(): FontMetrics {
  loaded ??= createMetrics(fontNames.map(readFont));
  return loaded;
}

function createMetrics(fonts: readonly Font[]): FontMetrics {
  return {
    findWidth(character) {
      const code = character.codePointAt(0) ?? 0;
      return fonts.map(({ widths }) => widths.get(code)).find((width) => width !== undefined) ?? null;
    },
    findFont(cluster) {
      const codes = [...cluster].map((character) => character.codePointAt(0) ?? 0);
      return fonts.find(({ widths }) => codes.every((code) => widths.has(code)))?.name ?? null;
    },
  };
}

function readFont(name: FontName): Font {
  const bytes = readFileSync(join(fontsDir, name));
  const tables = new Map<string, number>();
  for (let index = 0; index < bytes.readUInt16BE(4); index += 1) {
    const at = 12 + index * 16;
    tables.set(bytes.toString("latin1", at, at + 4), bytes.readUInt32BE(at + 8));
  }
  const unitsPerEm = bytes.readUInt16BE((tables.get("head") ?? 0) + 18);
  const metricCount = bytes.readUInt16BE((tables.get("hhea") ?? 0) + 34);
  const metrics = tables.get("hmtx") ?? 0;
  const widths = new Map<number, number>();
  for (const [code, glyph] of listGlyphs(bytes, tables.get("cmap") ?? 0)) {
    // Glyph 0 is `.notdef`.
    if (glyph === 0) continue;
    const at = metrics + Math.min(glyph, metricCount - 1) * 4;
    widths.set(code, bytes.readUInt16BE(at) / unitsPerEm);
  }
  return { name, widths };
}

/** Reads `cmap` formats 12 (all of Unicode) and 4 (the BMP). */
function* listGlyphs(bytes: Buffer, cmap: number): Generator<readonly [code: number, glyph: number]> {
  for (let index = 0; index < bytes.readUInt16BE(cmap + 2); index += 1) {
    const table = cmap + bytes.readUInt32BE(cmap + 4 + index * 8 + 4);
    const format = bytes.readUInt16BE(table);
    if (format === 12) yield* listSegmentsOf32Bits(bytes, table);
    if (format === 4) yield* listSegmentsOf16Bits(bytes, table);
  }
}

function* listSegmentsOf32Bits(bytes: Buffer, table: number): Generator<readonly [number, number]> {
  for (let group = 0; group < bytes.readUInt32BE(table + 12); group += 1) {
    const at = table + 16 + group * 12;
    const first = bytes.readUInt32BE(at);
    const glyph = bytes.readUInt32BE(at + 8);
    for (let code = first; code <= bytes.readUInt32BE(at + 4); code += 1) yield [code, glyph + code - first];
  }
}

function* listSegmentsOf16Bits(bytes: Buffer, table: number): Generator<readonly [number, number]> {
  const count = bytes.readUInt16BE(table + 6) / 2;
  const word = (part: number, segment: number): number => bytes.readUInt16BE(table + part + segment * 2);
  const [ends, starts, deltas, ranges] = [14, 16 + count * 2, 16 + count * 4, 16 + count * 6];
  for (let segment = 0; segment < count; segment += 1) {
    for (let code = word(starts, segment); code <= word(ends, segment) && code < 0xffff; code += 1) {
      const range = word(ranges, segment);
      const place = table + ranges + segment * 2 + range + (code - word(starts, segment)) * 2;
      const raw = range === 0 ? code : bytes.readUInt16BE(place);
      if (raw !== 0) yield [code, (raw + word(deltas, segment)) & 0xffff];
    }
  }
}

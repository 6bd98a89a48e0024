import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonLimits } from "../../lib/json-cursor.ts";
import { createJsonScanner } from "./json-scanner.ts";

/** A reference implementation that counts the whole text at once. */
function countWhole(text: string): JsonLimits {
  const strings = text.match(/"(?:[^"\\]|\\.)*"/gs) ?? [];
  const outside = text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""');
  return {
    structureMax: outside.match(/[{[:,]/g)?.length ?? 0,
    escapesMax: strings.join("").match(/\\./gs)?.length ?? 0,
  };
}

function scan(text: string, limits: JsonLimits, chunkBytes: number) {
  const bytes = Buffer.from(text);
  const scanner = createJsonScanner(limits);
  let exceeded: keyof JsonLimits | null = null;
  for (let at = 0; at < bytes.length; at += chunkBytes)
    exceeded = scanner.add(bytes.subarray(at, at + chunkBytes)) ?? exceeded;
  return exceeded;
}

test("counts the structure and escapes of any JSON, however it is split into chunks", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 5 }),
      fc.string({ unit: fc.constantFrom('"', "\\", "x", "\n", "漢"), maxLength: 80 }),
      fc.integer({ min: 1, max: 900 }),
      (value, more, chunkBytes) => {
        // Runs on both sides of the scanner's threshold for long ones.
        const text = JSON.stringify([value, more, "x".repeat(40), `${"x".repeat(300)}\n${"x".repeat(700)}\n`]);
        const counted = countWhole(text);
        expect(scan(text, counted, chunkBytes)).toBeNull();
        const [less, fewer] = [counted.structureMax - 1, counted.escapesMax - 1];
        expect(scan(text, { ...counted, structureMax: less }, chunkBytes)).toBe("structureMax");
        if (fewer >= 0) expect(scan(text, { ...counted, escapesMax: fewer }, chunkBytes)).toBe("escapesMax");
      },
    ),
  );
});

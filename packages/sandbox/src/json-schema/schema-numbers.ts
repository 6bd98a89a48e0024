import { fitsPart } from "./schema-fit.ts";
import { listNumbers, SchemaObstacleError, type SchemaPart, type SchemaScope } from "./schema-parts.ts";

/** A number that fits all parts: one of the hints if possible, else a small one, else one near a bound. */
export function sampleNumber(
  parts: readonly SchemaPart[],
  wish: { isInteger: boolean; hints: readonly number[] },
  scope: SchemaScope,
): number {
  const step = findStep(listNumbers(parts, "multipleOf"), wish.isInteger);
  const low = [...listNumbers(parts, "minimum"), ...listNumbers(parts, "exclusiveMinimum")];
  const high = [...listNumbers(parts, "maximum"), ...listNumbers(parts, "exclusiveMaximum")];
  const bounds = [...low, ...high];
  const between = low.length > 0 && high.length > 0 ? [(Math.max(...low) + Math.min(...high)) / 2] : [];
  const near = [...bounds, ...between].flatMap((bound) => {
    const multiple = Math.round(bound / step) * step;
    return [bound, multiple, multiple + step, multiple - step, bound + 0.5, bound - 0.5];
  });
  for (const candidate of [...wish.hints, 1, 0, step, ...near]) {
    const isAllowed = Number.isFinite(candidate) && (!wish.isInteger || Number.isInteger(candidate));
    // Zero has a sign in this language, and none in JSON.
    const value = candidate === 0 ? 0 : candidate;
    if (isAllowed && parts.every((part) => fitsPart(part, value, scope))) return value;
  }
  throw new SchemaObstacleError("This model found no number for one of the fields in the schema.");
}

/** The smallest number that is a multiple of all; where they are not whole, their product is one. */
function findStep(multiples: readonly number[], isInteger: boolean): number {
  const steps = isInteger ? [1, ...multiples] : multiples;
  return steps.reduce((step, other) => {
    if (Number.isInteger(step / other)) return step;
    if (Number.isInteger(other / step)) return other;
    return Number.isInteger(step) && Number.isInteger(other) ? (step * other) / findDivisor(step, other) : step * other;
  }, steps[0] ?? 1);
}

function findDivisor(first: number, second: number): number {
  let [larger, smaller] = [first, second];
  while (smaller > 0) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}

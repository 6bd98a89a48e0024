import type { JsonLimits } from "../lib/json-cursor.ts";
import type { Settings } from "../platform/config/load-settings.ts";

/** Some clients escape every non-ASCII character: allow as many as the longest context has tokens. */
const jsonEscapesMax = 1_000_000;

export function readJsonLimits({ json_structure_max: structureMax }: Settings): JsonLimits {
  return { structureMax, escapesMax: jsonEscapesMax };
}

import type { Settings } from "../platform/config/load-settings.ts";
import type { JsonLimits } from "../platform/http/json-scanner.ts";

/** Some clients escape every non-ASCII character: allow as many as the longest context has tokens. */
const jsonEscapesMax = 1_000_000;

export function readJsonLimits({ json_structure_max: structureMax }: Settings): JsonLimits {
  return { structureMax, escapesMax: jsonEscapesMax };
}

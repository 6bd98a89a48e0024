import { deriveFalFields, findFalType } from "./derive-fal-fields.ts";
import { type FalEndpoint, readFalTypes } from "./read-fal-types.ts";

/** Equal rules are written once: `rules` has each set, `endpoints` the type and the number of the set. */
export function presentFalEndpoints(source: string): string {
  const numbers = new Map<string, number>();
  const number = (endpoint: FalEndpoint): string | null => {
    const type = findFalType(endpoint);
    if (type === null) return null;
    const rules = JSON.stringify(deriveFalFields(endpoint, type));
    const known = numbers.get(rules) ?? numbers.size;
    numbers.set(rules, known);
    return `${type} ${known}`;
  };
  const endpoints = Object.fromEntries(readFalTypes(source).map((endpoint) => [endpoint.id, number(endpoint)]));
  const rules = [...numbers.keys()].map((text): unknown => JSON.parse(text));
  return `${JSON.stringify({ rules, endpoints })}\n`;
}

import fc from "fast-check";
import type { Operation, Schema } from "./openapi-document.ts";
import { type FuzzRequest, partsOf, write } from "./request-arbitrary.ts";
import type { Hints } from "./schema-arbitrary.ts";

type Values = Record<string, unknown>;

/** Texts that PostgreSQL cannot store: U+0000, and a lone surrogate. */
const texts = ["a\u0000b", "a\ud800b"];

/** Requests of an operation, each valid except for one parameter or field with such a text, at every possible place. */
export function listUnstorableRequests(operation: Operation, hints: Hints, seed: number): FuzzRequest[] {
  const [parts] = fc.sample(partsOf(operation, hints), { seed, numRuns: 1 });
  if (parts === undefined) return [];
  const requests: FuzzRequest[] = [];
  for (const { in: place, name } of operation.parameters) {
    const group = place === "header" ? "headers" : place;
    // A header cannot contain it, and an address that is not UTF-8 is invalid.
    if (place !== "header")
      requests.push(write(operation, { ...parts, [group]: { ...parts[group], [name]: texts[0] } }));
  }
  const media = Object.values(operation.body?.content ?? {})[0];
  const body = typeof parts.body === "object" && parts.body !== null ? (parts.body as Values) : {};
  for (const text of texts) {
    for (const changed of spoilFields(media?.schema ?? {}, body, text)) {
      requests.push(write(operation, { ...parts, body: changed }));
    }
  }
  return requests;
}

/** The object with the text in each field, in each nested field, and as the name of an additional field. */
function spoilFields(schema: Schema, values: Values, text: string): Values[] {
  return Object.entries(listProperties(schema)).flatMap(([name, field]) => {
    const inner = spoilFields(field, {}, text);
    const any = [text, [text], { id: text }, { [text]: "x" }, [{ id: text }], [{ type: "item_reference", id: text }]];
    return [...any, ...inner].map((value) => ({ ...values, [name]: value }));
  });
}

function listProperties({ properties = {}, anyOf = [], oneOf = [] }: Schema): Readonly<Record<string, Schema>> {
  return Object.assign({}, ...[...anyOf, ...oneOf].map(listProperties), properties) as Record<string, Schema>;
}

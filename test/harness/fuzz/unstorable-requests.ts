import fc from "fast-check";
import type { Operation, Schema } from "./openapi-document.ts";
import { type FuzzRequest, partsOf, write } from "./request-arbitrary.ts";
import type { Hints } from "./schema-arbitrary.ts";

type Values = Record<string, unknown>;

/** What PostgreSQL cannot store: U+0000, and half of a pair of surrogates. */
const texts = ["a\u0000b", "a\ud800b"];

/** Requests of an operation, each allowed but for one parameter or field, which has such a text, wherever a text may be. */
export function listUnstorableRequests(operation: Operation, hints: Hints, seed: number): FuzzRequest[] {
  const [parts] = fc.sample(partsOf(operation, hints), { seed, numRuns: 1 });
  if (parts === undefined) return [];
  const requests: FuzzRequest[] = [];
  for (const { in: place, name } of operation.parameters) {
    const group = place === "header" ? "headers" : place;
    // A header cannot have it, and text in an address that is no UTF-8 is none.
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

/** The object with the text in place of each field, in each field of a field, and as the name of one more. */
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

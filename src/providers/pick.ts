import { asRecord } from "./openai-compatible/json-value.ts";

const itemsMax = 64;

/** The values at a place such as `data.0.outputs.*.url`, where `*` stands for each item of a list. */
export function pickAll(body: unknown, place: string): unknown[] {
  let found: unknown[] = [body];
  for (const name of place.split(".")) {
    found = found.flatMap((value) => {
      if (name === "*") return Array.isArray(value) ? value.slice(0, itemsMax) : [];
      const inner = Array.isArray(value) ? value[Number(name)] : asRecord(value)?.[name];
      return inner === undefined || inner === null ? [] : [inner];
    });
  }
  return found;
}

/** The first text or number at a place; `null` if there is none. */
export function pickWord(body: unknown, place: string): string | null {
  const [word] = pickAll(body, place).filter((value) => typeof value === "string" || typeof value === "number");
  return word === undefined || word === "" ? null : String(word);
}

/** An endpoint of fal, as its client's types describe it. */
export type FalEndpoint = {
  id: string;
  input: Readonly<Record<string, FalProperty>>;
  /** The names of the output's properties. */
  output: readonly string[];
};

export type FalProperty = {
  isRequired: boolean;
  /** The members of its union, such as `"5s"`, `number` or `ImageSize`. */
  members: readonly string[];
  /** As its description has it: `5`, `"auto"`. */
  default: string | null;
};

type Properties = Record<string, FalProperty>;

const opening = /^export type (\w+) = \{$/;
const alias = /^export type (\w+) = (\w+);$/;
const property = /^ {4}(\w+)(\??): (.*);$/;
const defaultValue = /Default value: `([^`]*)`/;
const endpoint = /^ {4}"([^"]+)": \{$/;
const part = /^ {8}(input|output): (\w+);$/;

/** Reads `endpoints.d.ts` of `@fal-ai/client`, whose lines all have one of a few forms. */
export function readFalTypes(source: string): FalEndpoint[] {
  const types = new Map<string, Properties>();
  const aliases = new Map<string, string>();
  const endpoints = new Map<string, Partial<Record<string, string>>>();
  let current: Properties = {};
  let parts: Partial<Record<string, string>> = {};
  let found: string | null = null;
  for (const line of source.split("\n")) {
    const [, typeName] = opening.exec(line) ?? [];
    const [, id] = endpoint.exec(line) ?? [];
    const [, name, mark, written] = property.exec(line) ?? [];
    if (typeName !== undefined) {
      current = {};
      types.set(typeName, current);
    } else if (id !== undefined) {
      parts = {};
      endpoints.set(id, parts);
    } else if (name !== undefined) {
      current[name] = { isRequired: mark === "", members: (written ?? "").split(" | "), default: found };
      found = null;
    } else {
      found = defaultValue.exec(line)?.[1] ?? found;
      const [, own = "", other = ""] = alias.exec(line) ?? [];
      const [, side = "", type = ""] = part.exec(line) ?? [];
      if (own !== "") aliases.set(own, other);
      if (side !== "") parts[side] = type;
    }
  }
  const resolve = (name = ""): Properties => types.get(name) ?? types.get(aliases.get(name) ?? "") ?? {};
  return [...endpoints].map(([id, { input, output }]) => ({
    ...{ id, input: resolve(input) },
    output: Object.keys(resolve(output)),
  }));
}

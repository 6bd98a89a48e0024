import { type Document, isMap, isNode, isScalar, isSeq, type Node } from "yaml";

type Part = string | number | readonly Part[] | { readonly [name: string]: Part };
/** An item of a list in the catalog. */
export type Item = { readonly [name: string]: Part | undefined };

/** Edits a catalog file as text, so that comments, quotes and the order of everything else stay. */
export type CatalogEditor = {
  /** Adds an item at the end of a list. */
  append(list: "models" | "prices", item: Item): void;
  /** Sets an amount of a price, by its position. */
  setAmount(position: number, name: string, amount: string): void;
  /** Sets a field of the map at a place of the document. */
  setNumber(place: readonly (string | number)[], name: string, value: number): void;
  /** The text with all edits. */
  write(): string;
};

type Edit = { from: number; to: number; text: string };

/** `document` is the parsed text of a valid catalog. */
export function editCatalogText(source: string, document: Document): CatalogEditor {
  const edits: Edit[] = [];
  const added = { models: [] as Item[], prices: [] as Item[] };
  return {
    append: (list, item) => void added[list].push(item),
    setAmount: (position, name, amount) =>
      void edits.push(
        changeField(document, source, { place: ["prices", position], name, text: JSON.stringify(amount) }),
      ),
    setNumber: (place, name, value) =>
      void edits.push(changeField(document, source, { place, name, text: String(value) })),
    write() {
      const appended = (["models", "prices"] as const).flatMap((list) =>
        added[list].length === 0 ? [] : [appendItems(document.get(list, true), source, added[list])],
      );
      const pieces: string[] = [];
      let at = 0;
      // An item is added after the last edit of the line before it.
      for (const { from, to, text } of [...edits, ...appended].toSorted((one, other) => one.from - other.from)) {
        pieces.push(source.slice(at, from), text);
        at = to;
      }
      return pieces.join("") + source.slice(at);
    },
  };
}

type FieldChange = { place: readonly (string | number)[]; name: string; text: string };

function changeField(document: Document, source: string, { place, name, text }: FieldChange): Edit {
  const line = document.getIn(place, true);
  if (!isMap(line)) throw new TypeError("a price or a route is a map");
  const value = line.get(name, true);
  if (isScalar(value)) {
    const [from, to] = findRange(value);
    return { from, to, text };
  }
  const last = line.items.at(-1);
  const [, to] = findRange(last?.value);
  if (line.flow === true) return { from: to, to, text: `, ${name}: ${text}` };
  const [keyAt] = findRange(last?.key);
  const indent = " ".repeat(keyAt - source.lastIndexOf("\n", keyAt) - 1);
  const from = findLineEnd(source, to);
  return { from, to: from, text: `\n${indent}${name}: ${text}` };
}

function appendItems(list: unknown, source: string, items: readonly Item[]): Edit {
  const last = isSeq(list) ? list.items.at(-1) : undefined;
  if (!isSeq(list) || last === undefined) {
    const [from, to] = findRange(list);
    return { from, to, text: `\n${writeItems(items, "  ")}` };
  }
  const [, to] = findRange(last);
  if (list.flow === true) return { from: to, to, text: items.map((item) => `, ${writePart(item as Part)}`).join("") };
  const [firstAt] = findRange(list);
  const indent = source.slice(source.lastIndexOf("\n", firstAt) + 1, firstAt);
  const from = findLineEnd(source, to);
  return { from, to: from, text: `\n${writeItems(items, /^ *$/.test(indent) ? indent : "  ")}` };
}

function findRange(node: unknown): readonly [from: number, to: number] {
  const [from, to] = (isNode(node) ? (node as Node).range : null) ?? [];
  if (from === undefined || to === undefined) throw new TypeError("a parsed node has its place");
  return [from, to];
}

/** The end of the line in which a value ends. The end of a block may be the start of the next line. */
function findLineEnd(source: string, valueEnd: number): number {
  const at = source.indexOf("\n", Math.max(valueEnd - 1, 0));
  return at === -1 ? source.length : at;
}

function writeItems(items: readonly Item[], indent: string): string {
  return items
    .map((item) =>
      Object.entries(item)
        .filter(([, value]) => value !== undefined)
        .map(([name, value], at) => `${indent}${at === 0 ? "- " : "  "}${name}: ${writePart(value as Part)}`)
        .join("\n"),
    )
    .join("\n");
}

const plainPattern = /^[A-Za-z][\w./-]*(?: [\w./-]+)*$/;
/** Words that YAML reads as something else. */
const reserved: ReadonlySet<string> = new Set(["true", "false", "null", "yes", "no", "on", "off"]);

function writePart(part: Part): string {
  if (typeof part === "string") {
    return plainPattern.test(part) && !reserved.has(part.toLowerCase()) ? part : JSON.stringify(part);
  }
  if (typeof part === "number") return String(part);
  if (Array.isArray(part)) return `[${part.map(writePart).join(", ")}]`;
  const fields = Object.entries(part as Record<string, Part>).map(([name, value]) => `${name}: ${writePart(value)}`);
  return `{ ${fields.join(", ")} }`;
}

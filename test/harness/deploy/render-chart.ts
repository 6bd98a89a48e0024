import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments, stringify } from "yaml";

export type Manifest = { kind: string; metadata: { name: string; annotations?: Record<string, string> } } & Record<
  string,
  unknown
>;

type Fields = Record<string, unknown>;

/** Renders a Helm chart without Helm: supports the subset that our chart uses, and throws for everything else. */
export function renderChart(chartDir: string, values: Fields): Manifest[] {
  const about = parse(readFileSync(join(chartDir, "Chart.yaml"), "utf8"));
  const standard = parse(readFileSync(join(chartDir, "values.yaml"), "utf8"));
  const root = {
    Values: merge(standard, values),
    Release: { Name: "sluice", Service: "Helm" },
    Chart: { AppVersion: about.appVersion },
  };
  const templates = new Map<string, Node[]>();
  const folder = join(chartDir, "templates");
  const files = readdirSync(folder).filter((name) => /\.(tpl|yaml)$/.test(name));
  const bodies = files.map((name) => parseTemplate(readFileSync(join(folder, name), "utf8"), templates));
  return bodies
    .map((nodes) => renderNodes(nodes, { dot: root, variables: new Map([["$", root]]), templates }))
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest | null))
    .filter((manifest) => manifest !== null);
}

function merge(standard: unknown, given: unknown): unknown {
  if (!isMap(standard) || !isMap(given)) return given === undefined ? standard : given;
  const names = new Set([...Object.keys(standard), ...Object.keys(given)]);
  return Object.fromEntries([...names].map((name) => [name, merge(standard[name], given[name])]));
}

function isMap(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Node =
  | { kind: "text"; text: string }
  | { kind: "value"; pipeline: string }
  | { kind: "branch"; word: "if" | "with" | "range"; pipeline: string; body: Node[]; otherwise: Node[] };

type Scope = { dot: unknown; variables: ReadonlyMap<string, unknown>; templates: ReadonlyMap<string, Node[]> };

/** Definitions go into the map; the remaining nodes are returned. */
function parseTemplate(source: string, templates: Map<string, Node[]>): Node[] {
  const trimmed = source.replaceAll(/\s*\{\{-/g, "{{").replaceAll(/-\}\}\s*/g, "}}");
  const pieces = trimmed.split(/\{\{(.*?)\}\}/s);
  const root: Node[] = [];
  const open: { nodes: Node[]; name: string | null; ends: number }[] = [{ nodes: root, name: null, ends: 1 }];
  const innermost = () => open.at(-1) ?? { nodes: root, name: null, ends: 1 };
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 0) {
      if (piece !== "") innermost().nodes.push({ kind: "text", text: piece });
      continue;
    }
    const [, word = "", rest = ""] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(piece) ?? [];
    if (word === "define") open.push({ nodes: [], name: rest.slice(1, -1), ends: 1 });
    else if (word === "if" || word === "with" || word === "range") {
      const node: Node = { kind: "branch", word, pipeline: rest, body: [], otherwise: [] };
      innermost().nodes.push(node);
      open.push({ nodes: node.body, name: null, ends: 1 });
    } else if (word === "else") {
      const { ends } = open.pop() ?? { ends: 1 };
      const owner = innermost().nodes.at(-1);
      if (owner?.kind !== "branch") throw new Error("An else without an if.");
      const next: Node = { kind: "branch", word: "if", pipeline: rest.slice(3), body: [], otherwise: [] };
      if (rest !== "") owner.otherwise.push(next);
      // One `end` closes everything that an `else if` has opened.
      if (rest !== "") open.push({ nodes: owner.otherwise, name: null, ends });
      open.push({ nodes: rest === "" ? owner.otherwise : next.body, name: null, ends: rest === "" ? ends : ends + 1 });
    } else if (word === "end") {
      const { nodes, name, ends } = innermost();
      if (name !== null) templates.set(name, nodes);
      open.length -= ends;
    } else innermost().nodes.push({ kind: "value", pipeline: piece.trim() });
  }
  if (open.length !== 1) throw new Error("A block of a template has no end.");
  return root;
}

function renderNodes(nodes: readonly Node[], scope: Scope): string {
  return nodes.map((node) => renderNode(node, scope)).join("");
}

function renderNode(node: Node, scope: Scope): string {
  if (node.kind === "text") return node.text;
  if (node.kind === "value") return toText(evaluate(node.pipeline, scope));
  if (node.word === "range") return renderRange(node, scope);
  const value = evaluate(node.pipeline, scope);
  if (isEmpty(value)) return renderNodes(node.otherwise, scope);
  return renderNodes(node.body, node.word === "with" ? { ...scope, dot: value } : scope);
}

function renderRange({ pipeline, body }: Node & { kind: "branch" }, scope: Scope): string {
  const [, names = "", source = pipeline] = /^(\$[\w, $]+?)\s*:=\s*(.*)$/s.exec(pipeline) ?? [];
  const items = evaluate(source, scope);
  const entries = Array.isArray(items) ? [...items.entries()] : Object.entries(items ?? {}).toSorted();
  const [keyName = "", valueName = keyName] = names.split(",").map((name) => name.trim());
  return entries
    .map(([key, value]) => {
      const variables = new Map([...scope.variables, [keyName, key], [valueName, value]]);
      return renderNodes(body, { ...scope, dot: value, variables });
    })
    .join("");
}

function evaluate(pipeline: string, scope: Scope): unknown {
  let value: unknown;
  for (const [index, command] of splitOutside(pipeline, "|").entries()) {
    const words = splitOutside(command, " ").filter((word) => word !== "");
    value = call(words, index === 0 ? [] : [value], scope);
  }
  return value;
}

function call([first = "", ...rest]: readonly string[], piped: readonly unknown[], scope: Scope): unknown {
  const given = [...rest.map((word) => readTerm(word, scope)), ...piped];
  if (first === "include") {
    const nodes = scope.templates.get(String(given[0]));
    if (nodes === undefined) throw new Error(`There is no template ${given[0]}.`);
    return renderNodes(nodes, { ...scope, dot: given[1] });
  }
  const known = functions[first];
  return known === undefined ? readTerm(first, scope) : known(...given);
}

function readTerm(word: string, scope: Scope): unknown {
  if (word.startsWith("(")) return evaluate(word.slice(1, -1), scope);
  if (word.startsWith('"')) return JSON.parse(word);
  if (/^\d+$/.test(word)) return Number(word);
  const [, variable, path = ""] = /^(\$\w*)?((?:\.\w*)*)$/.exec(word) ?? [];
  if (variable === undefined && !word.startsWith(".")) throw new Error(`The renderer does not know ${word}.`);
  const start = variable === undefined ? scope.dot : scope.variables.get(variable);
  return path
    .split(".")
    .filter((name) => name !== "")
    .reduce((value: unknown, name) => (isMap(value) ? value[name] : undefined), start);
}

const goKinds: Record<string, string> = { boolean: "bool", number: "float64" };

const functions: Record<string, (...given: readonly unknown[]) => unknown> = {
  quote: (value) => JSON.stringify(toText(value)),
  upper: (value) => toText(value).toUpperCase(),
  default: (standard, value) => (isEmpty(value) ? standard : value),
  required: (sentence, value) => {
    if (isEmpty(value)) throw new Error(toText(sentence));
    return value;
  },
  toYaml: (value) => stringify(value).trimEnd(),
  nindent: (spaces, text) => `\n${toText(text)}`.replaceAll("\n", `\n${" ".repeat(Number(spaces))}`),
  omit: (map, name) => Object.fromEntries(Object.entries(isMap(map) ? map : {}).filter(([key]) => key !== name)),
  list: (...items) => items,
  join: (separator, items) => (Array.isArray(items) ? items.join(toText(separator)) : ""),
  kindIs: (kind, value) => kind === (Array.isArray(value) ? "slice" : (goKinds[typeof value] ?? typeof value)),
  ternary: (one, other, condition) => (condition === true ? one : other),
  int64: (value) => Math.trunc(Number(value)),
  not: isEmpty,
  add: (...numbers) => numbers.reduce((sum: number, each) => sum + Number(each), 0),
  mul: (one, other) => Number(one) * Number(other),
  div: (one, other) => Math.trunc(Number(one) / Number(other)),
};

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isMap(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === false || value === 0 || value === "";
}

function toText(value: unknown): string {
  return value === undefined || value === null ? "" : String(value);
}

/** Splits at a character that is neither in quotes nor in parentheses. */
function splitOutside(text: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  let isQuoted = false;
  for (const letter of text) {
    if (letter === '"') isQuoted = !isQuoted;
    if (!isQuoted && letter === "(") depth += 1;
    if (!isQuoted && letter === ")") depth -= 1;
    if (letter === separator && depth === 0 && !isQuoted) parts.push("");
    else parts[parts.length - 1] += letter;
  }
  return parts.map((part) => part.trim());
}

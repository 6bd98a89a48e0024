import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "@swc/core";
import { repositoryDir } from "../repository-files.ts";

/**
 * The chat request types of the installed `openai` package, parsed from the package itself: a field that a newer
 * release adds is included without a change here.
 */
type Shape =
  | { kind: "object"; fields: readonly Field[] }
  | { kind: "array"; item: Shape }
  | { kind: "union"; of: readonly Shape[] }
  | { kind: "literal"; value: unknown }
  | { kind: "text" | "number" | "boolean" | "any" | "null" };

type Field = { name: string; isOptional: boolean; shape: Shape };

/** One field of a chat request, and how to build a request with a value there and otherwise only required fields. */
export type Place = {
  path: string;
  isOptional: boolean;
  takesNull: boolean;
  literals: readonly unknown[];
  request(value: unknown): Record<string, unknown>;
};

type Node = { type: string; [name: string]: unknown };
type Scope = { prefix: string; node: Node };

const packageFolder = join(repositoryDir, "node_modules/openai");
const files = { "": "resources/chat/completions/completions.d.ts", Shared: "resources/shared.d.ts" };

/** Every field that a chat request can have, by the names of the types that lead to it: `messages[user].name`. */
export function listChatPlaces(samples: Readonly<Record<string, unknown>>): Place[] {
  const types = readTypes();
  const shape = types.resolve("ChatCompletionCreateParamsNonStreaming", "");
  return [...walk(shape, { path: "", build: (value) => value as Record<string, unknown>, samples })];
}

function readTypes() {
  const declared = new Map<string, Scope>();
  for (const [prefix, file] of Object.entries(files)) {
    const text = readFileSync(join(packageFolder, file), "utf8");
    const { body } = parseSync(text, { syntax: "typescript" }) as unknown as { body: Node[] };
    collect(body, prefix, declared);
  }

  function find(name: string, prefix: string): Scope {
    for (let scope = prefix; ; scope = scope.slice(0, Math.max(scope.lastIndexOf("."), 0))) {
      const found = declared.get(scope === "" ? name : `${scope}.${name}`);
      if (found !== undefined) return found;
      if (scope === "") throw new Error(`The package has no type ${name}.`);
    }
  }

  function resolve(name: string, prefix: string): Shape {
    const { node, prefix: home } = find(name.replace(/^ChatCompletionsAPI\./, ""), prefix);
    return node.type === "TsInterfaceDeclaration" ? readInterface(node, home) : read(node.typeAnnotation as Node, home);
  }

  function readInterface(node: Node, home: string): Shape {
    const inherited = (node.extends as Node[]).flatMap(({ expression }) => {
      const parent = resolve(readName(expression as Node), home);
      return parent.kind === "object" ? parent.fields : [];
    });
    const own = readMembers((node.body as { body: Node[] }).body, `${home}.${readName(node.id as Node)}`);
    const names = new Set(own.map(({ name }) => name));
    return { kind: "object", fields: [...inherited.filter(({ name }) => !names.has(name)), ...own] };
  }

  function readMembers(members: readonly Node[], home: string): Field[] {
    return members
      .filter(({ type }) => type === "TsPropertySignature")
      .map((member) => ({
        name: String((member.key as Node).value),
        isOptional: member.optional === true,
        shape: read((member.typeAnnotation as { typeAnnotation: Node }).typeAnnotation, home),
      }));
  }

  function read(node: Node, home: string): Shape {
    switch (node.type) {
      case "TsParenthesizedType":
        return read(node.typeAnnotation as Node, home);
      case "TsKeywordType":
        return { kind: keywords[String(node.kind)] ?? "any" };
      case "TsLiteralType":
        return { kind: "literal", value: (node.literal as Node).value };
      case "TsUnionType":
        return { kind: "union", of: (node.types as Node[]).map((type) => read(type, home)) };
      // `string & {}` is how the package writes "any text, and these in particular".
      case "TsIntersectionType":
        return { kind: "text" };
      case "TsTypeLiteral":
        return { kind: "object", fields: readMembers(node.members as Node[], home) };
      case "TsTypeReference": {
        const name = readName(node.typeName as Node);
        const [item] = ((node.typeParams as { params?: Node[] } | null)?.params ?? []) as Node[];
        if (name === "Array" && item !== undefined) return { kind: "array", item: read(item, home) };
        return resolve(name, home);
      }
      default:
        throw new Error(`${node.type} is a node type that this parser does not support.`);
    }
  }

  return { resolve };
}

const keywords: Record<string, "text" | "number" | "boolean" | "any" | "null"> = {
  string: "text",
  number: "number",
  boolean: "boolean",
  null: "null",
};

function collect(nodes: readonly Node[], prefix: string, declared: Map<string, Scope>): void {
  for (const node of nodes) {
    const own = node.type === "ExportDeclaration" ? (node.declaration as Node) : node;
    if (own.type === "TsInterfaceDeclaration" || own.type === "TsTypeAliasDeclaration") {
      const name = readName(own.id as Node);
      const path = prefix === "" ? name : `${prefix}.${name}`;
      if (!declared.has(path)) declared.set(path, { node: own, prefix });
    } else if (own.type === "TsModuleDeclaration") {
      const name = readName(own.id as Node);
      collect((own.body as { body: Node[] }).body, prefix === "" ? name : `${prefix}.${name}`, declared);
    }
  }
}

function readName(node: Node): string {
  if (node.type === "TsQualifiedName") return `${readName(node.left as Node)}.${readName(node.right as Node)}`;
  if (node.type === "MemberExpression") return `${readName(node.object as Node)}.${readName(node.property as Node)}`;
  return String(node.value);
}

type Walk = { path: string; build: (value: unknown) => Record<string, unknown>; samples: Samples };
type Samples = Readonly<Record<string, unknown>>;

function* walk(shape: Shape, { path, build, samples }: Walk): Generator<Place> {
  if (shape.kind === "array") yield* walk(shape.item, { path, samples, build: (value) => build([value]) });
  if (shape.kind === "union") for (const form of shape.of) yield* walk(form, { path, build, samples });
  if (shape.kind !== "object") return;
  const here = `${path}${readTag(shape)}`;
  const least = sampleObject(shape, here, samples);
  for (const field of shape.fields) {
    const at = here === "" ? field.name : `${here}.${field.name}`;
    const buildHere = (value: unknown) => build({ ...least, [field.name]: value });
    const forms = field.shape.kind === "union" ? field.shape.of.flatMap(flatten) : [field.shape];
    const literals = forms.flatMap((form) => (form.kind === "literal" ? [form.value] : []));
    const takesNull = forms.some(({ kind }) => kind === "null");
    if (field.isOptional || takesNull) {
      yield { path: at, isOptional: field.isOptional, takesNull, literals, request: buildHere };
    }
    yield* walk(field.shape, { path: at, samples, build: buildHere });
  }
}

function flatten(shape: Shape): readonly Shape[] {
  return shape.kind === "union" ? shape.of.flatMap(flatten) : [shape];
}

/** The discriminator of a union member: `[user]`. */
function readTag({ fields }: Extract<Shape, { kind: "object" }>): string {
  for (const { name, shape } of fields) {
    if ((name === "role" || name === "type") && shape.kind === "literal") return `[${String(shape.value)}]`;
  }
  return "";
}

function sampleObject(shape: Extract<Shape, { kind: "object" }>, path: string, samples: Samples) {
  const required = shape.fields.filter(({ isOptional }) => !isOptional);
  return Object.fromEntries(
    required.map((field) => [
      field.name,
      sample(field.shape, path === "" ? field.name : `${path}.${field.name}`, samples),
    ]),
  );
}

/** The smallest value that the type allows, or the sample for that place. */
function sample(shape: Shape, path: string, samples: Samples): unknown {
  if (Object.hasOwn(samples, path)) return samples[path];
  switch (shape.kind) {
    case "object":
      return sampleObject(shape, `${path}${readTag(shape)}`, samples);
    case "array":
      return [sample(shape.item, path, samples)];
    case "union":
      return sample(shape.of[0] ?? { kind: "null" }, path, samples);
    case "literal":
      return shape.value;
    case "text":
      return "text";
    case "number":
      return 1;
    case "boolean":
      return true;
    case "any":
      return {};
    case "null":
      return null;
  }
}

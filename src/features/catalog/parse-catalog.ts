import { Settings } from "typebox/system";
import { Value } from "typebox/value";
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { describeRule } from "../../platform/errors/validation-problem.ts";
import { type CatalogFile, type CatalogProblem, catalogFileSchema } from "./catalog-file.ts";
import { amountNames } from "./price.ts";

/** A problem with the line and column that an editor jumps to. */
export type LocatedProblem = { line: number; column: number; path: string; message: string };

export type ParsedCatalog =
  | { kind: "parsed"; file: CatalogFile; document: Document; locate(problem: CatalogProblem): LocatedProblem }
  | { kind: "malformed"; problems: LocatedProblem[] };

/** Amounts stay strings as written: as numbers, some would lose digits. */
const namesOfAmounts: ReadonlySet<string> = new Set(amountNames);

const aliasesMax = 10_000;

/** Show operators every mistake at once, up to a limit. */
Settings.Set({ maxErrors: 1000 });

/** Parses a catalog file and checks it against the schema. `checkCatalog` does the rest. */
export function parseCatalog(source: string): ParsedCatalog {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const locateOffset = (offset: number, path: string, message: string): LocatedProblem => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col, path, message };
  };
  const locate = ({ path, message }: CatalogProblem): LocatedProblem =>
    locateOffset(findOffset(document, path), presentPath(path), message);

  const mistakes = [
    ...document.errors.map(({ pos, message }) => ({ offset: pos[0], message: `This is not valid YAML: ${message}` })),
    ...listBrokenReferences(document),
  ];
  if (mistakes.length > 0) {
    return { kind: "malformed", problems: mistakes.map(({ offset, message }) => locateOffset(offset, "", message)) };
  }
  keepAmountsAsWritten(document);
  const unfolded = unfold(document);
  if (unfolded === null) {
    return {
      kind: "malformed",
      problems: [locateOffset(0, "", "YAML aliases expand this file beyond the limit. Write the repeated parts out.")],
    };
  }
  const { file } = unfolded;
  const problems = Value.Errors(catalogFileSchema, file).flatMap(describeFinding).map(locate);
  if (problems.length > 0) return { kind: "malformed", problems: problems.toSorted(compareByPlace) };
  return { kind: "parsed", file: file as CatalogFile, document, locate };
}

function listBrokenReferences(document: Document): { offset: number; message: string }[] {
  const found: { offset: number; message: string }[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return;
      found.push({
        offset: alias.range?.[0] ?? 0,
        message: `The alias *${alias.source} has no anchor &${alias.source}. Add the anchor before it.`,
      });
    },
  });
  return found;
}

/** `null` when aliases would expand a small file into a huge one. */
function unfold(document: Document): { file: unknown } | null {
  try {
    return { file: document.toJS({ maxAliasCount: aliasesMax }) };
  } catch {
    // `listBrokenReferences` ran before, so this can only be the library's alias limit.
    return null;
  }
}

function keepAmountsAsWritten(document: Document): void {
  visit(document, {
    Pair(_key, { key, value }) {
      if (
        isScalar(key) &&
        namesOfAmounts.has(String(key.value)) &&
        isScalar(value) &&
        typeof value.value === "number"
      ) {
        value.value = value.source ?? String(value.value);
      }
    },
  });
}

export function compareByPlace(a: LocatedProblem, b: LocatedProblem): number {
  return a.line - b.line || a.column - b.column;
}

type Finding = { keyword: string; instancePath: string; params: object; message: string };

function describeFinding({ keyword, instancePath, params, message }: Finding): CatalogProblem[] {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~")));
  const known = params as Record<string, unknown>;
  switch (keyword) {
    case "boolean":
      return [{ path, message: `There is no field ${String(path.at(-1))} here. Remove it, or correct its name.` }];
    case "additionalProperties":
      // Each additional property also has a finding of its own, with its place.
      return [];
    case "required":
      return (known.requiredProperties as string[]).map((name) => ({ path, message: `${name} is missing. Add it.` }));
    default:
      return [
        {
          path,
          message: `${String(path.at(-1) ?? "The file")} ${describeRule({ keyword, instancePath, params: known, message })}.`,
        },
      ];
  }
}

/** The offset of a value; if it is missing, of the nearest value around it. */
function findOffset(document: Document, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent = document.getIn(path.slice(0, length - 1), true);
    const name = path[length - 1];
    const pair = isMap(parent)
      ? parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === name)
      : undefined;
    const node = pair?.key ?? document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

function presentPath(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );
}

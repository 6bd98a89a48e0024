import type { Settings } from "./agent-table.ts";
import { CliError } from "./cli-error.ts";

/**
 * Edits a TOML file as text, so that comments and order stay. It knows what Codex's settings need: strings and booleans at
 * the top, and one table. It refuses a file that defines the table in another way.
 */

type Line = { text: string /** Inside a multi-line string. */; isQuoted: boolean };

const headerPattern = /^\s*\[\[?\s*([^\]#]+?)\s*\]\]?/;

/** The strings at the top of the file. */
export function readTomlTop(text: string, names: readonly string[]): Settings {
  const found: Settings = {};
  for (const { text: line, isQuoted } of listTop(splitLines(text))) {
    const [, name = "", value] = isQuoted ? [] : (/^\s*([\w-]+)\s*=\s*(?:"([^"\\]*)"|'[^']*')/.exec(line) ?? []);
    if (names.includes(name)) found[name] = value ?? line.replace(/^[^']*'([^']*)'.*$/, "$1");
    else if (!isQuoted) for (const each of names) if (isKey(line, each)) found[each] = line.trim();
  }
  return found;
}

/** Sets strings and booleans at the top, and replaces one table. */
export function editToml(text: string, top: Settings, table: { name: string; settings: Settings }): string {
  const lines = dropTable(splitLines(text), table.name);
  refuseOtherForms(lines, table.name);
  const missing = { ...top };
  const head = listTop(lines);
  const edited = lines.map((line, index) => {
    const name = index < head.length && !line.isQuoted ? Object.keys(top).find((each) => isKey(line.text, each)) : null;
    if (name == null) return line.text;
    delete missing[name];
    return writePair(name, top[name]);
  });
  const added = Object.entries(missing).map(([name, value]) => writePair(name, value));
  const body = [...added, ...edited].join("\n").trimEnd();
  const pairs = Object.entries(table.settings).map(([name, value]) => writePair(name, value));
  return [...(body === "" ? [] : [body, ""]), `[${table.name}]`, ...pairs, ""].join("\n");
}

function isKey(line: string, name: string): boolean {
  return new RegExp(`^\\s*${name}\\s*=`).test(line);
}

function writePair(name: string, value: unknown): string {
  // A JSON string is a valid TOML string.
  return `${name} = ${JSON.stringify(value)}`;
}

function splitLines(text: string): Line[] {
  let quote: string | null = null;
  return (text === "" ? [] : text.split(/\r?\n/)).map((line) => {
    const isQuoted = quote !== null;
    for (const [mark] of line.matchAll(/"""|'''/g)) {
      if (quote === null) quote = mark;
      else if (quote === mark) quote = null;
    }
    return { text: line, isQuoted };
  });
}

/** The lines before the first table. */
function listTop(lines: readonly Line[]): readonly Line[] {
  const first = lines.findIndex((line) => readHeader(line) !== null);
  return first === -1 ? lines : lines.slice(0, first);
}

/** `model_providers.sluice`, without quotes and spaces; `null` for other lines. */
function readHeader({ text, isQuoted }: Line): string | null {
  const header = isQuoted ? undefined : headerPattern.exec(text)?.[1];
  return header?.replaceAll(/["'\s]/g, "") ?? null;
}

function dropTable(lines: readonly Line[], name: string): Line[] {
  let isInside = false;
  return lines.filter((line) => {
    const header = readHeader(line);
    if (header !== null) isInside = header === name;
    return !isInside;
  });
}

function refuseOtherForms(lines: readonly Line[], name: string): void {
  const [parent = ""] = name.split(".");
  const isOther = lines.some(
    (line) =>
      !line.isQuoted && (readHeader(line) === parent || new RegExp(`^\\s*"?${parent}"?\\s*[.=]`).test(line.text)),
  );
  if (!isOther) return;
  throw new CliError(`The file has ${parent} in a form that this command can't edit.`, {
    remedy: "Add the settings by hand. Show them with --print.",
  });
}

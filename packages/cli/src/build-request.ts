import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { createMisuse } from "./cli-error.ts";
import type { CommandInput } from "./command-definition.ts";
import type { FieldRule, MediaDefinition } from "./media-table.ts";
import { parseUrl } from "./site-address.ts";
import type { Terminal } from "./terminal.ts";

export type RequestBody = Record<string, unknown>;

/** Uploads a local file and returns its id. */
type Upload = (path: string) => Promise<string>;

/** A field of the request whose files are not uploaded yet. */
type Planned = { field: string; resolve(upload: Upload): Promise<unknown> };

/** Validates all arguments before it uploads any file. A file named twice is uploaded once. */
export async function buildRequest(
  definition: MediaDefinition,
  input: Pick<CommandInput, "words" | "options" | "terminal">,
  makeUpload: () => Promise<Upload>,
): Promise<RequestBody> {
  const planned = [await planWords(definition, input), ...(await planFields(definition, input))].flat();
  const body: RequestBody = {};
  const upload = rememberUploads(await makeUpload());
  for (const { field, resolve } of planned) {
    const value = await resolve(upload);
    const known = body[field];
    body[field] = Array.isArray(known) && Array.isArray(value) ? [...known, ...value] : value;
  }
  return body;
}

function rememberUploads(upload: Upload): Upload {
  const known = new Map<string, string>();
  return async (path) => {
    const id = known.get(path) ?? (await upload(path));
    known.set(path, id);
    return id;
  };
}

async function planWords(
  { words: rule, type }: MediaDefinition,
  { words, terminal }: Pick<CommandInput, "words" | "terminal">,
): Promise<Planned[]> {
  if (rule === null || words.length === 0) {
    if (rule?.isRequired === true) throw createMisuse(`Missing argument. Usage: sluice ${type} ${rule.shown}`);
    return [];
  }
  const [first = ""] = words;
  const value = words.length === 1 ? await readGivenText(first, terminal) : words.join(" ");
  return [{ field: rule.field, resolve: async () => value }];
}

async function planFields(
  { fields }: MediaDefinition,
  input: Pick<CommandInput, "options" | "terminal">,
): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (const [name, rule] of Object.entries(fields)) {
    const resolve = await planField(name, rule, input);
    if (resolve !== null) planned.push({ field: rule.field, resolve });
  }
  return planned;
}

/** `null` if the option was not given. */
async function planField(
  name: string,
  { takes }: FieldRule,
  { options, terminal }: Pick<CommandInput, "options" | "terminal">,
): Promise<Planned["resolve"] | null> {
  const settle = (value: unknown) => (value === undefined ? null : async () => value);
  const text = options.text(name);
  const list = options.list(name);
  switch (takes) {
    case "words":
      return settle(text);
    case "text":
      return settle(text === undefined ? undefined : await readGivenText(text, terminal));
    case "integer":
      return settle(options.integer(name));
    case "number":
      return settle(options.number(name));
    case "switch":
      return settle(options.has(name) ? true : undefined);
    case "file":
      return text === undefined ? null : await planFile(text);
    case "files":
      return list.length === 0 ? null : await planAll(list, planFile);
    case "characters":
      return list.length === 0 ? null : settle(list.map((each) => ({ name: each })));
    case "references":
      return list.length === 0 ? null : await planAll(list, (each) => planReference(name, each));
    case "pairs":
      return list.length === 0 ? null : settle(Object.fromEntries(list.map((each) => splitPair(name, each))));
  }
}

async function planAll(
  list: readonly string[],
  plan: (each: string) => Promise<Planned["resolve"]>,
): Promise<Planned["resolve"]> {
  const planned: Planned["resolve"][] = [];
  for (const each of list) planned.push(await plan(each));
  return async (upload) => {
    const values: unknown[] = [];
    for (const resolve of planned) values.push(await resolve(upload));
    return values;
  };
}

/** URLs and file ids are sent unchanged; anything else is a local path, with or without a leading @. */
async function planFile(given: string): Promise<Planned["resolve"]> {
  if (/^file_[0-9a-z]+$/.test(given) || parseUrl(given) !== null) return async () => given;
  const path = given.replace(/^@/, "");
  await requireFile(path);
  return (upload) => upload(path);
}

async function planReference(option: string, given: string): Promise<Planned["resolve"]> {
  const [name, file] = splitPair(option, given);
  const resolve = await planFile(file);
  return async (upload) => ({ name, reference_file_id: await resolve(upload) });
}

function splitPair(option: string, given: string): [string, string] {
  const at = given.indexOf("=");
  if (at < 1) throw createMisuse(`--${option} takes name=value, not "${given}".`);
  return [given.slice(0, at), given.slice(at + 1)];
}

async function requireFile(path: string): Promise<void> {
  try {
    await access(path, constants.R_OK);
    if ((await stat(path)).isFile()) return;
  } catch {
    // Reported below.
  }
  throw createMisuse(`Cannot read the file "${path}".`);
}

/** `@file` reads a file, `-` standard input; `@@` escapes a leading @. */
async function readGivenText(given: string, terminal: Terminal): Promise<string> {
  if (given === "-") return await terminal.readInput();
  if (given.startsWith("@@")) return given.slice(1);
  if (!given.startsWith("@")) return given;
  await requireFile(given.slice(1));
  return await readFile(given.slice(1), "utf8");
}

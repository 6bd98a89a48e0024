import type { MediaField } from "./media-fields.ts";

/** An uploaded file as stored with the form. */
export type KeptFile = {
  id: string;
  name: string;
  contentType: string;
  bytes: number;
  /** Duration of a recording, if the browser can tell. */
  seconds: number | null;
};
export type Character = { name: string; file: KeptFile | null };
export type MediaValue = string | KeptFile[] | Character[];
export type MediaValues = Record<string, MediaValue>;
export type MediaProblems = Record<string, string>;

export function readText(values: MediaValues, name: string): string {
  const value = values[name];
  return typeof value === "string" ? value : "";
}

export function readFiles(values: MediaValues, name: string): KeptFile[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((each) => "contentType" in each) : [];
}

export function readCharacters(values: MediaValues, name: string): Character[] {
  const value = values[name];
  return Array.isArray(value) ? value.filter((each) => "file" in each) : [];
}

/** The effective choice: the chosen one if the model has it, else the default, else the first. */
export function readChoice(
  values: MediaValues,
  { name, options, usual }: Extract<MediaField, { kind: "choice" }>,
): string {
  const has = (wanted: string | undefined) => options.find(({ value }) => value === wanted)?.value;
  return has(readText(values, name)) ?? has(usual) ?? options[0]?.value ?? "";
}

/** Counts code points, as the API does. */
export function countCharacters(text: string): number {
  return [...text].length;
}

/** The request body, and problems by field. */
export function buildMediaBody(
  modelId: string,
  fields: readonly MediaField[],
  values: MediaValues,
): { body: Record<string, unknown>; problems: MediaProblems } {
  const body: Record<string, unknown> = { model: modelId };
  const problems: MediaProblems = {};
  for (const field of fields) {
    const { value, problem } = readField(field, values);
    if (value !== undefined) body[field.name] = value;
    if (problem !== undefined) problems[field.name] = problem;
  }
  if (needsPromptOrImage(fields) && body.prompt === undefined && body.input_images === undefined) {
    problems.prompt = "Write a prompt or choose a start image.";
  }
  return { body, problems };
}

function needsPromptOrImage(fields: readonly MediaField[]): boolean {
  const isOptional = fields.some((field) => field.name === "prompt" && field.kind === "text" && !field.isRequired);
  return isOptional && fields.some(({ name }) => name === "input_images");
}

/** A field's part of the body, or its problem; nothing if it is empty. */
type Reading = { value?: unknown; problem?: string };
type FieldOf<Kind extends MediaField["kind"]> = Extract<MediaField, { kind: Kind }>;

function readField(field: MediaField, values: MediaValues): Reading {
  switch (field.kind) {
    case "text":
      return readTextField(field, readText(values, field.name));
    case "choice": {
      const chosen = readChoice(values, field);
      return { value: convertChoice(chosen, field.sends) };
    }
    case "number":
      return readNumberField(field, readText(values, field.name).trim());
    case "files":
      return readFilesField(field, readFiles(values, field.name));
    case "characters":
      return readCharactersField(readCharacters(values, field.name));
  }
}

function readTextField({ isRequired, charactersMax: max }: FieldOf<"text">, text: string): Reading {
  if (text.trim() === "") return isRequired ? { problem: "This field is required." } : {};
  const length = countCharacters(text);
  const isTooLong = max !== null && length > max;
  return { value: text, ...(isTooLong ? { problem: `Use at most ${max} characters. This has ${length}.` } : {}) };
}

function readNumberField({ min, max, isWhole }: FieldOf<"number">, text: string): Reading {
  if (text === "") return {};
  const value = Number(text.replace(",", "."));
  const isRight = value >= min && value <= max && (!isWhole || Number.isInteger(value));
  return isRight ? { value } : { problem: `Use a ${isWhole ? "whole " : ""}number from ${min} to ${max}.` };
}

function readFilesField({ isRequired, isList }: FieldOf<"files">, files: readonly KeptFile[]): Reading {
  const ids = files.map(({ id }) => id);
  if (ids.length === 0) return isRequired ? { problem: "Choose a file." } : {};
  return { value: isList ? ids : ids[0] };
}

function readCharactersField(list: readonly Character[]): Reading {
  const isNamed = ({ name }: Character): boolean => name.trim() !== "";
  if (list.some((character) => !isNamed(character) && character.file !== null)) {
    return { problem: "Each reference image needs a character name." };
  }
  const named = list.filter(isNamed);
  if (named.length === 0) return {};
  const value = named.map(({ name, file }) => ({
    name: name.trim(),
    ...(file === null ? {} : { reference_file_id: file.id }),
  }));
  return { value };
}

/** Restores a stored form; drops invalid values. */
export function parseValues(stored: unknown): MediaValues {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {};
  const isValue = (value: unknown) =>
    typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "object" && each));
  // Only this page writes it.
  return Object.fromEntries(Object.entries(stored).filter(([, value]) => isValue(value))) as MediaValues;
}

function convertChoice(chosen: string, sends: "text" | "number" | "boolean"): string | number | boolean {
  if (sends === "number") return Number(chosen);
  return sends === "boolean" ? chosen === "true" : chosen;
}

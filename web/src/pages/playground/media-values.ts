import type { MediaField } from "./media-fields.ts";

/** An uploaded file, as the form remembers it. */
export type KeptFile = {
  id: string;
  name: string;
  contentType: string;
  bytes: number;
  /** How long a recording is, where the browser could tell. */
  seconds: number | null;
};
export type Character = { name: string; file: KeptFile | null };
export type MediaValue = string | KeptFile[] | Character[];
/** What was typed and chosen, by field. */
export type MediaValues = Record<string, MediaValue>;
/** What is wrong, by field. */
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

/** The choice that counts: what was chosen if this model has it, else the first that it has. */
export function readChoice(values: MediaValues, { name, options }: Extract<MediaField, { kind: "choice" }>): string {
  const chosen = readText(values, name);
  return options.some(({ value }) => value === chosen) ? chosen : (options[0]?.value ?? "");
}

/** As people count characters, and as the API does. */
export function countCharacters(text: string): number {
  return [...text].length;
}

/** The body of the request; and what cannot be sent, with what would be right. */
export function buildMediaBody(
  modelId: string,
  fields: readonly MediaField[],
  values: MediaValues,
): { body: Record<string, unknown>; problems: MediaProblems } {
  const body: Record<string, unknown> = { model: modelId };
  const problems: MediaProblems = {};
  for (const field of fields) {
    const problem = readField(field, values, body);
    if (problem !== null) problems[field.name] = problem;
  }
  if (needsPromptOrImage(fields) && body.prompt === undefined && body.input_images === undefined) {
    problems.prompt = "Write a prompt or choose a start image.";
  }
  return { body, problems };
}

function needsPromptOrImage(fields: readonly MediaField[]): boolean {
  return fields.some((field) => field.name === "prompt" && field.kind === "text" && !field.isRequired);
}

/** Puts the field into the body, or says what is wrong with it. */
function readField(field: MediaField, values: MediaValues, body: Record<string, unknown>): string | null {
  switch (field.kind) {
    case "text": {
      const text = readText(values, field.name);
      const length = countCharacters(text);
      if (text.trim() === "") return field.isRequired ? "This field is required." : null;
      body[field.name] = text;
      const max = field.charactersMax;
      return max !== null && length > max ? `At most ${max} characters; these are ${length}.` : null;
    }
    case "choice": {
      const chosen = readChoice(values, field);
      body[field.name] = field.isNumber ? Number(chosen) : chosen;
      return null;
    }
    case "number": {
      const text = readText(values, field.name).trim();
      if (text === "") return null;
      const value = Number(text.replace(",", "."));
      const isRight = value >= field.min && value <= field.max && (!field.isWhole || Number.isInteger(value));
      if (!isRight) return `Use a ${field.isWhole ? "whole " : ""}number from ${field.min} to ${field.max}.`;
      body[field.name] = value;
      return null;
    }
    case "files": {
      const ids = readFiles(values, field.name).map(({ id }) => id);
      if (ids.length === 0) return field.isRequired ? "Choose a file." : null;
      body[field.name] = field.isList ? ids : ids[0];
      return null;
    }
    case "characters":
      return readCharacterList(readCharacters(values, field.name), field.name, body);
  }
}

function readCharacterList(list: readonly Character[], name: string, body: Record<string, unknown>): string | null {
  const named = list.filter((character) => character.name.trim() !== "");
  if (list.some((character) => character.name.trim() === "" && character.file !== null)) {
    return "Each reference image needs a character name.";
  }
  if (named.length > 0) {
    body[name] = named.map((character) => ({
      name: character.name.trim(),
      ...(character.file === null ? {} : { reference_file_id: character.file.id }),
    }));
  }
  return null;
}

/** What the browser's storage has of a form: whatever is not of that form is left out. */
export function parseValues(stored: unknown): MediaValues {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {};
  const isValue = (value: unknown) =>
    typeof value === "string" || (Array.isArray(value) && value.every((each) => typeof each === "object" && each));
  // Only this page writes it.
  return Object.fromEntries(Object.entries(stored).filter(([, value]) => isValue(value))) as MediaValues;
}

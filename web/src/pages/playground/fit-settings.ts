import type { ModelDetail } from "../../api/fetch-catalog.ts";
import type { ChatSettings } from "./chat-settings.ts";
import type { MediaField } from "./media-fields.ts";
import { type MediaValues, readCharacters, readChoice, readFiles, readText } from "./media-values.ts";

/** The settings that a model supports, with remarks about the changed and dropped ones. */
export function fitSettings(
  settings: ChatSettings,
  { capabilities, limits }: Pick<ModelDetail, "capabilities" | "limits">,
  { hasImages }: { hasImages: boolean },
): { settings: ChatSettings; remarks: string[] } {
  const remarks: string[] = [];
  const fitted = { ...settings };
  if (settings.effort !== "" && !capabilities.includes("reasoning")) remarks.push("Reasoning effort is not sent.");
  if (settings.hasTools && !capabilities.includes("tools")) remarks.push("Tools are not sent.");
  if (hasImages && !capabilities.includes("vision")) remarks.push("Images are not sent.");
  const max = limits.max_output_tokens;
  if (max !== undefined && Number(settings.tokensMax) > max) {
    fitted.tokensMax = String(max);
    remarks.push(`Max output tokens is ${max}, the maximum of this model.`);
  }
  return { settings: fitted, remarks };
}

/** Remarks about fields that a model does not support or supports differently. */
export function listIgnoredValues(
  shared: readonly MediaField[],
  own: readonly MediaField[],
  values: MediaValues,
): string[] {
  return shared.flatMap((field) => {
    const mine = own.find(({ name }) => name === field.name);
    if (mine === undefined) return isFilled(field, values) ? [`${field.label} is not sent.`] : [];
    if (mine.kind !== "choice" || field.kind !== "choice") return [];
    const asked = readChoice(values, field);
    const used = readChoice(values, mine);
    if (asked === used) return [];
    const label = mine.options.find(({ value }) => value === used)?.label ?? used;
    return [`${field.label} is ${label}: the only one supported.`];
  });
}

function isFilled(field: MediaField, values: MediaValues): boolean {
  if (field.kind === "files") return readFiles(values, field.name).length > 0;
  if (field.kind === "characters") return readCharacters(values, field.name).length > 0;
  return field.kind === "choice" || readText(values, field.name).trim() !== "";
}

/** One form for several models: all fields, with the options of all. */
export function mergeFields(forms: readonly (readonly MediaField[])[]): MediaField[] {
  const merged = new Map<string, MediaField>();
  for (const field of forms.flat()) {
    const known = merged.get(field.name);
    merged.set(field.name, known === undefined ? field : mergeField(known, field));
  }
  return [...merged.values()];
}

function mergeField(a: MediaField, b: MediaField): MediaField {
  if (a.kind === "choice" && b.kind === "choice") {
    const added = b.options.filter(({ value }) => a.options.every((option) => option.value !== value));
    return { ...a, options: [...a.options, ...added] };
  }
  if (a.kind === "number" && b.kind === "number")
    return { ...a, min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
  if (a.kind === "files" && b.kind === "files") return { ...a, countMax: Math.max(a.countMax, b.countMax) };
  if (a.kind === "text" && b.kind === "text") {
    const charactersMax =
      a.charactersMax === null || b.charactersMax === null ? null : Math.max(a.charactersMax, b.charactersMax);
    return { ...a, charactersMax };
  }
  return a;
}

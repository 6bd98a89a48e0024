import type { FilesMedia, MediaField } from "./media-fields.ts";
import { type MediaValues, readFiles } from "./media-values.ts";
import { isOfKind } from "./upload-input-file.ts";

const textFile = /\.(txt|md|markdown|fountain)$/i;
const textsTaken = ["script", "input", "prompt"];

/** The field for a file dropped outside all fields: one with room, else the first that accepts it. */
export function findFileField(
  fields: readonly MediaField[],
  values: MediaValues,
  contentType: string,
): FilesMedia | null {
  const taking = fields.flatMap((field) =>
    field.kind === "files" && isOfKind(contentType, field.takes) ? [field] : [],
  );
  return taking.find(({ name, countMax }) => readFiles(values, name).length < countMax) ?? taking[0] ?? null;
}

/** The field for a dropped text file. */
export function findTextField(fields: readonly MediaField[], { name, type }: File): string | null {
  if (!type.startsWith("text/") && !textFile.test(name)) return null;
  return textsTaken.find((each) => fields.some((field) => field.name === each)) ?? null;
}

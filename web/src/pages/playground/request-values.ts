import type { Character, KeptFile, MediaValues } from "./media-values.ts";

type FoundFile = KeptFile | null;

/** File ids in a request. External URLs are not files of the account. */
export function listRequestFiles(body: Record<string, unknown>): string[] {
  return [
    ...listTexts(body.input_images),
    ...listTexts([body.avatar_file_id, body.audio_file_id]),
    ...listCharacters(body.characters).flatMap(({ reference_file_id: id }) => id ?? []),
  ];
}

/** A request as form values. `find` returns a file, or `null` if it has expired. */
export function readRequest(body: Record<string, unknown>, find: (fileId: string) => FoundFile): MediaValues {
  const values: MediaValues = {};
  for (const [name, value] of Object.entries(body)) {
    if (name === "model") continue;
    if (name === "input_images") values[name] = listTexts(value).flatMap((id) => find(id) ?? []);
    else if (name === "avatar_file_id" || name === "audio_file_id") {
      values[name] = listTexts([value]).flatMap((id) => find(id) ?? []);
    } else if (name === "characters") {
      values[name] = listCharacters(value).map(
        ({ name: called, reference_file_id: id }): Character => ({
          name: called,
          file: id === undefined ? null : find(id),
        }),
      );
    } else if (typeof value === "string") values[name] = value;
    else if (typeof value === "number" || typeof value === "boolean") values[name] = String(value);
    // A drama document; the API accepts it as text too.
    else if (name === "script") values[name] = JSON.stringify(value, null, 2);
  }
  return values;
}

function listTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function listCharacters(value: unknown): { name: string; reference_file_id?: string }[] {
  // The API has validated it.
  return Array.isArray(value) ? value : [];
}

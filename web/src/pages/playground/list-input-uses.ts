import type { Model } from "../../api/fetch-catalog.ts";
import type { FileKind, MediaType } from "./media-fields.ts";
import type { KeptFile, MediaValues } from "./media-values.ts";
import { isOfKind } from "./upload-input-file.ts";

/** A field that accepts the file, and a model that has this field. */
export type InputUse = { type: MediaType; field: string; label: string; modelId: string };

type Place = { type: MediaType; field: string; takes: FileKind; label: string; needs: Model["capabilities"][number] };

const places: readonly Place[] = [
  { type: "video", field: "input_images", takes: "image", label: "Start image for a video", needs: "image_to_video" },
  { type: "image", field: "input_images", takes: "image", label: "Input for an image", needs: "image_to_image" },
  {
    type: "avatar",
    field: "avatar_file_id",
    takes: "person",
    label: "Person for an avatar",
    needs: "audio_driven_avatar",
  },
  {
    type: "avatar",
    field: "audio_file_id",
    takes: "audio",
    label: "Voice for an avatar",
    needs: "audio_driven_avatar",
  },
  { type: "drama", field: "characters", takes: "image", label: "Character in a drama", needs: "storyboard" },
];

/** Where a file can be used. Keeps the chosen model if it accepts the file. */
export function listInputUses(contentType: string, models: readonly Model[], chosenId: string): InputUse[] {
  const sorted = models.toSorted((a, b) => Number(b.id === chosenId) - Number(a.id === chosenId));
  return places.flatMap(({ type, field, takes, label, needs }) => {
    const model = sorted.find((each) => each.type === type && each.capabilities.includes(needs));
    return model === undefined || contentType === "" || !isOfKind(contentType, takes)
      ? []
      : [{ type, field, label, modelId: model.id }];
  });
}

/** The form with the file inserted; in a drama as another character. */
export function placeInput(values: MediaValues, field: string, file: KeptFile): MediaValues {
  if (field !== "characters") return { ...values, [field]: [file] };
  const known = Array.isArray(values.characters) ? values.characters.filter((each) => "file" in each) : [];
  return { ...values, characters: [...known, { name: "", file }] };
}

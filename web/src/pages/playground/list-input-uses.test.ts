import { expect, test } from "vitest";
import type { Model } from "../../api/fetch-catalog.ts";
import { findFileField, findTextField } from "./drop-target.ts";
import { listInputUses, placeInput } from "./list-input-uses.ts";
import { listMediaFields } from "./media-fields.ts";
import type { KeptFile } from "./media-values.ts";

const model = (id: string, type: Model["type"], capability: Model["capabilities"][number]) =>
  ({ id, type, capabilities: [capability] }) as Model;
const models = [
  model("video-1", "video", "image_to_video"),
  model("video-2", "video", "image_to_video"),
  model("words-only", "image", "text_to_image"),
  model("face", "avatar", "audio_driven_avatar"),
];
const file: KeptFile = { id: "file_a", name: "a.png", contentType: "image/png", bytes: 1, seconds: null };

test("a file fits every form with a model for it, the chosen model first", () => {
  const uses = (type: string, chosen = "") =>
    listInputUses(type, models, chosen).map(({ field, modelId }) => `${modelId} ${field}`);
  expect(uses("image/png")).toEqual(["video-1 input_images", "face avatar_file_id"]);
  expect(uses("image/png", "video-2")[0]).toBe("video-2 input_images");
  expect(uses("audio/mpeg")).toEqual(["face audio_file_id"]);
  expect(uses("video/mp4")).toEqual(["face avatar_file_id"]);
  expect(uses("application/json")).toEqual([]);
});

test("a file replaces the current one; a drama gets another character", () => {
  expect(placeInput({ prompt: "x", input_images: [] }, "input_images", file)).toEqual({
    prompt: "x",
    input_images: [file],
  });
  expect(placeInput({ characters: [{ name: "Anna", file: null }] }, "characters", file).characters).toEqual([
    { name: "Anna", file: null },
    { name: "", file },
  ]);
});

test("a file dropped outside the fields goes to a field that accepts it and has room", () => {
  const fields = listMediaFields({ type: "avatar", capabilities: ["audio_driven_avatar"], limits: {} });
  expect(findFileField(fields, {}, "audio/wav")?.name).toBe("audio_file_id");
  expect(findFileField(fields, {}, "video/mp4")?.name).toBe("avatar_file_id");
  expect(findFileField(fields, {}, "text/plain")).toBeNull();
  const drama = listMediaFields({ type: "drama", capabilities: ["script_generation"], limits: {} });
  expect(findTextField(drama, new File(["INT. KITCHEN"], "pilot.fountain"))).toBe("script");
  expect(findTextField(fields, new File(["words"], "notes.txt", { type: "text/plain" }))).toBeNull();
});

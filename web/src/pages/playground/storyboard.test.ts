import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  addShot,
  buildShotImage,
  changeShot,
  findShotProblem,
  moveShot,
  parseStoryboard,
  removeShot,
  type Storyboard,
} from "./storyboard.ts";

const path = join(import.meta.dirname, "../../../../docs/media/drama-storyboard.json");
const made = parseStoryboard(JSON.parse(readFileSync(path, "utf8"))) as Storyboard;
const idsOf = ({ shots }: Storyboard) => shots.map(({ id }) => id.replace("shot-", "")).join("");

test("shots are moved, added and removed, and the rest of the document is unchanged", () => {
  expect(idsOf(made)).toBe("123456");
  expect(idsOf(moveShot(made, "shot-1", 2))).toBe("231456");
  expect(idsOf(moveShot(made, "shot-6", 0))).toBe("612345");
  expect(moveShot(made, "shot-6", 6)).toBe(made);
  expect(idsOf(removeShot(made, "shot-3"))).toBe("12456");
  const added = addShot(removeShot(made, "shot-3"), "shot-2");
  expect(added?.id).toBe("shot-7");
  expect(added?.board.shots[2]).toMatchObject({ scene: "scene-1", lines: [], image_file_id: null });
  expect({ ...moveShot(made, "shot-1", 2), shots: [] }).toEqual({ ...made, shots: [] });
  const single = { ...made, shots: made.shots.slice(0, 1) };
  expect(removeShot(single, "shot-1")).toBe(single);
});

test("a speaker is added to the shot's characters", () => {
  const changed = changeShot(made, "shot-1", { lines: [{ speaker: "Mara", text: "Hello" }] });
  expect(changed.shots[0]?.characters).toEqual(["Mara"]);
});

test("a shot without a prompt, or with an empty line, is rejected", () => {
  const [first] = made.shots;
  if (first === undefined) throw new Error("it has shots");
  expect(findShotProblem(first)).toBeNull();
  expect(findShotProblem({ ...first, prompt: " " })).toContain("shows");
  expect(findShotProblem({ ...first, lines: [{ speaker: null, text: "" }] })).toContain("line");
});

test("a redraw uses the video's aspect ratio and the shot's characters", () => {
  const shot = made.shots[1];
  if (shot === undefined) throw new Error("it has two shots");
  const painter = { id: "painter", capabilities: ["image_to_image"], limits: { sizes: ["1024x1024", "1536x1024"] } };
  const body = buildShotImage(shot, made, painter);
  expect(body).toMatchObject({ model: "painter", size: "1536x1024", input_images: [made.roles[0]?.reference_file_id] });
  expect(body.prompt).toContain("blue sweater");
  expect(buildShotImage(shot, made, { ...painter, capabilities: [] })).not.toHaveProperty("input_images");
});

test("other documents are not parsed as a storyboard", () => {
  expect(parseStoryboard(null)).toBeNull();
  expect(parseStoryboard({ object: "drama.script" })).toBeNull();
});

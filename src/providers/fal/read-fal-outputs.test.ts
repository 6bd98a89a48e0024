import { expect, test } from "vitest";
import { readFalOutputs } from "./read-fal-outputs.ts";

const picture = { type: "image", prompt: "x", width: 1, height: 1, count: 3 } as const;
const film = { type: "video", prompt: "x", durationSeconds: 5, aspectRatio: "16:9" } as const;

test.for([
  [{ images: [{ url: "u1" }, { url: "u2" }] }, ["u1", "u2"]],
  [{ images: ["u1"] }, ["u1"]],
  [{ images: [], image: { url: "u1" } }, ["u1"]],
  [{ image: { url: "u1" } }, ["u1"]],
  [{ images: [{ url: "u1" }, {}, 7, null, { url: "" }] }, ["u1"]],
  [{ images: [1, 2, 3, 4].map((number) => `u${number}`) }, ["u1", "u2", "u3"]],
  [{ images: ["u1", "u2", "u3"], has_nsfw_concepts: [false, true, false] }, ["u1", "u3"]],
  [{ images: ["u1"], has_nsfw_concepts: null }, ["u1"]],
  [{ video: { url: "u1" } }, []],
  ["images", []],
  [null, []],
] as const)("the images of %j are %j", ([body, urls]) => {
  expect(readFalOutputs(body, picture).outputs).toEqual(urls.map((url) => ({ type: "image", url })));
});

test("a video is found in any of its fields, once", () => {
  const expected = [{ type: "video", url: "u1" }];
  for (const body of [{ video: { url: "u1" } }, { video: "u1" }, { videos: ["u1", "u2"] }]) {
    expect(readFalOutputs(body, film).outputs).toEqual(expected);
    expect(readFalOutputs(body, { type: "avatar", aspectRatio: "1:1" }).outputs).toEqual(expected);
  }
});

test("withheld outputs are distinct from missing ones", () => {
  expect(readFalOutputs({ images: ["u1"], has_nsfw_concepts: [true] }, picture)).toEqual({
    outputs: [],
    isWithheld: true,
  });
  expect(readFalOutputs({ images: [] }, picture)).toEqual({ outputs: [], isWithheld: false });
});

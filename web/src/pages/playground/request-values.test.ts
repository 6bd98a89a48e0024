import { expect, test } from "vitest";
import type { KeptFile } from "./media-values.ts";
import { listRequestFiles, readRequest } from "./request-values.ts";

const keep = (id: string): KeptFile => ({ id, name: id, contentType: "image/png", bytes: 1, seconds: null });

test("a request restores its form; expired files are left out", () => {
  const body = {
    model: "painter",
    prompt: "A boat",
    n: 2,
    input_images: ["file_a", "file_gone"],
    avatar_file_id: "file_b",
    characters: [{ name: "Anna", reference_file_id: "file_c" }, { name: "Ben" }],
    metadata: { order: "1" },
  };
  expect(listRequestFiles(body)).toEqual(["file_a", "file_gone", "file_b", "file_c"]);
  expect(readRequest(body, (id) => (id === "file_gone" ? null : keep(id)))).toEqual({
    prompt: "A boat",
    n: "2",
    input_images: [keep("file_a")],
    avatar_file_id: [keep("file_b")],
    characters: [
      { name: "Anna", file: keep("file_c") },
      { name: "Ben", file: null },
    ],
  });
});

test("a drama document becomes text in the form", () => {
  const script = { object: "drama.storyboard", shots: [] };
  expect(JSON.parse(String(readRequest({ script }, () => null).script))).toEqual(script);
});

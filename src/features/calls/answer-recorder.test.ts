import { describe, expect, test } from "vitest";
import { createRecorder } from "./answer-recorder.ts";

const mebibyte = 1024 * 1024;

describe("a recorder", () => {
  test("joins its parts in order", () => {
    const recorder = createRecorder();
    for (const text of ["a", "", "世", "b"]) recorder.add(text);
    expect(recorder.join("")?.toString()).toBe("a世b");
    expect(recorder.join(Buffer.from("c"))?.toString()).toBe("a世bc");
    recorder.add(Buffer.from("d"));
    expect(recorder.join("")?.toString()).toBe("a世bd");
  });

  test("keeps exactly one mebibyte, and drops everything beyond it", () => {
    const recorder = createRecorder();
    for (let count = 0; count < 16; count += 1) recorder.add("x".repeat(mebibyte / 16));
    expect(recorder.join("")).toHaveLength(mebibyte);
    expect(recorder.join("x")).toBeNull();
    recorder.add("x");
    expect(recorder.join("")).toBeNull();
    recorder.add("");
    expect(recorder.join("")).toBeNull();
  });

  test("measures bytes, not characters", () => {
    const recorder = createRecorder();
    recorder.add("世".repeat(mebibyte / 2));
    expect(recorder.join("")).toBeNull();
  });
});

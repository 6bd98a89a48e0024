import { expect, test } from "vitest";
import { nameTask } from "./name-task.ts";

test("a task is named by its prompt, shortened, or by its type", () => {
  expect(nameTask({ prompt: " A \n boat ", type: "image" })).toBe("A boat");
  expect(nameTask({ type: "avatar" })).toBe("Avatar task");
  const long = nameTask({ prompt: "🌊".repeat(100), type: "video" });
  expect([[...long].length, long.endsWith("🌊…")]).toEqual([80, true]);
});

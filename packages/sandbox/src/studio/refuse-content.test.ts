import { expect, test } from "vitest";
import { refuseContent } from "./refuse-content.ts";

const image = { type: "image", width: 512, height: 512, count: 1 } as const;

test.each(["A gory battle of garden gnomes", "BLOODBATH on a beach", "A beheaded knight."])(
  "%s is rejected",
  (prompt) => {
    expect(refuseContent({ ...image, prompt })?.kind).toBe("content-refused");
    expect(refuseContent({ type: "video", prompt, durationSeconds: 5, aspectRatio: "16:9" })?.kind).toBe(
      "content-refused",
    );
  },
);

test.each(["A category of birds", "An allegory of spring", "A bath with blood oranges"])("%s is accepted", (prompt) => {
  expect(refuseContent({ ...image, prompt })).toBe(null);
});

test("spoken text is not checked", () => {
  const speech = { type: "speech", voice: "nova", speed: 1, format: "mp3" } as const;
  expect(refuseContent({ ...speech, text: "It was a gory story." })).toBe(null);
});

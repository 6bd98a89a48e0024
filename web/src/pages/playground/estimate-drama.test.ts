import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planScript, planShots } from "./estimate-drama.ts";

const media = join(import.meta.dirname, "../../../../docs/media");
/** What the video of this script came to, which is kept beside it. */
const filmedSeconds = 31;

test("a page of screenplay comes to about what was made of it", () => {
  const plan = planScript(readFileSync(join(media, "drama-script.txt"), "utf8"));
  const { shots } = JSON.parse(readFileSync(join(media, "drama-storyboard.json"), "utf8"));
  expect(Math.abs((plan?.shots ?? 0) - shots.length)).toBeLessThanOrEqual(3);
  expect(Math.abs((plan?.seconds ?? 0) - filmedSeconds)).toBeLessThanOrEqual(6);
});

test("shots that are known are counted as they are: by what is said, else by what they are meant to take", () => {
  const plan = planShots([
    { duration: 3, lines: [] },
    { duration: 3, lines: [{ text: "x".repeat(150) }] },
  ]);
  expect(plan).toEqual({ shots: 2, seconds: Math.ceil(2.5 + 3 + 10.8) });
});

test.each([
  ["", null],
  ["ANNA: Hello there.\nBEN: Hello.", 2],
  ["ANNA\nHello there.\n\nBEN\n(softly)\nHello.", 2],
  ["INT. KITCHEN - NIGHT\n\nRain.\n\nANNA\nHello.\n\nEXT. BEACH - DAWN\n\nBEN\nHello.", 4],
  ["A story that is told. It has no dialogue.", 2],
  ['{"object":"drama.script","scenes":[{"lines":[{"text":"Hi"}]}]}', 2],
  ['{"object":"drama.storyboard","shots":[{"duration":4,"lines":[]}]}', 1],
  ["{ half of a", 2],
])("%j has %s shots", (script, shots) => {
  expect(planScript(script)?.shots ?? null).toBe(shots);
});

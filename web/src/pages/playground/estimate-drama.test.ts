import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planScript, planShots } from "./estimate-drama.ts";

const media = join(import.meta.dirname, "../../../../docs/media");
/** The actual figures of this script's video, stored next to it. */
const filmedSeconds = 31;

test("the estimate of a screenplay page is close to its actual video", () => {
  const plan = planScript(readFileSync(join(media, "drama-script.txt"), "utf8"));
  const { shots } = JSON.parse(readFileSync(join(media, "drama-storyboard.json"), "utf8"));
  expect(Math.abs((plan?.shots ?? 0) - shots.length)).toBeLessThanOrEqual(3);
  expect(Math.abs((plan?.seconds ?? 0) - filmedSeconds)).toBeLessThanOrEqual(6);
});

test("known shots are counted by their lines, else by their planned duration", () => {
  const plan = planShots([
    { duration: 3, lines: [] },
    { duration: 3, lines: [{ text: "x".repeat(150) }] },
  ]);
  expect(plan).toEqual({ shots: 2, seconds: Math.ceil(2.5 + 3 + 10.8), secondsMax: 26 });
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

import { expect, test } from "vitest";
import { parseSceneHeading, writePlace } from "./scene-heading.ts";

test.each([
  ["INT. KITCHEN - NIGHT", "KITCHEN", "night", true],
  ["int. kitchen - night", "kitchen", "night", true],
  ["INT./EXT. CAR - DAY", "CAR", "day", null],
  ["EXT. BEACH, SUNSET (1985)", "BEACH", "sunset", false],
  ["12. EXT. CO-WORKING SPACE – LATE AFTERNOON", "CO-WORKING SPACE", "afternoon", false],
  ["EXT. STREET - LATER", "STREET", null, false],
  [".SOMEWHERE ELSE", "SOMEWHERE ELSE", null, null],
  ["Scene IV: The castle", "The castle", null, null],
  ["第一场 咖啡馆 夜 内", "咖啡馆", "night", true],
  ["第3幕", "", null, null],
  ["场景1：海边 日 外", "海边", "day", false],
  ["1-2 医院走廊 夜内", "医院走廊", "night", true],
  ["内景 卧室 晨", "卧室", "dawn", true],
])("%s is a heading", (line, place, time, isInside) => {
  expect(parseSceneHeading(line)).toMatchObject({ place, time, isInside });
});

test.each([
  "Interior design was her passion.",
  "Part of me wanted to stay.",
  "Act now!",
  "He est parti.",
  "Internal affairs",
  "Scenery passed by.",
  "室内很暗。",
  "她走进了内室。",
  `Scene 1 ${"x".repeat(200)}`,
  "",
])("“%s” is none", (line) => {
  expect(parseSceneHeading(line)).toBeNull();
});

test("an all-caps place is written in title case, with the names of people in it", () => {
  expect(writePlace("ANNA'S KITCHEN", ["Anna"])).toBe("Anna's kitchen");
  expect(writePlace("Paris", [])).toBe("Paris");
});

import { expect, test } from "vitest";
import { getDateFormat, getNumberFormat } from "./get-format.ts";

test("each style has one format", () => {
  expect(getNumberFormat({ style: "percent" })).toBe(getNumberFormat({ style: "percent" }));
  expect(getNumberFormat({ style: "percent" })).not.toBe(getNumberFormat());
});

test("time zones have their own formats", () => {
  const write = (timeZone: string) => getDateFormat({ hour: "2-digit", hourCycle: "h23", timeZone }).format(0);
  expect([write("UTC"), write("Asia/Tokyo")]).toEqual(["00", "09"]);
});

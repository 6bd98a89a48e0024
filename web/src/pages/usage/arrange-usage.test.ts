import { expect, test } from "vitest";
import type { Usage } from "../../api/fetch-spending.ts";
import { restColour } from "../../design/series-colours.ts";
import { arrangeUsage, isNamed } from "./arrange-usage.ts";

const nothing: Usage["total"] = {
  ...{ calls: 0, input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, images: 0, seconds: 0, characters: 0 },
  charge: "0.00",
  quota: { text: 0, image: 0, video: 0 },
};

function writeUsage(data: Partial<Usage["data"][number]>[], part: Partial<Usage> = {}): Usage {
  const rows = data.map((row) => ({ ...nothing, ...row }));
  const period = { from: "2026-10-31T23:00:00.000Z", to: "2026-11-03T23:00:00.000Z" };
  return {
    object: "usage",
    currency: "USD",
    time_zone: "Europe/Berlin",
    ...period,
    data: rows,
    total: nothing,
    ...part,
  };
}

const day = (date: number) => ({
  from: new Date(Date.UTC(2026, 9, 31 + date - 1, 23)).toISOString(),
  to: new Date(Date.UTC(2026, 9, 31 + date, 23)).toISOString(),
});
const byModel = { by: "model", show: "charge", cut: "day", nameOf: (id: string) => id } as const;

test("every day has a bar, and its parts sum to the day's total exactly", () => {
  const usage = writeUsage([
    { ...day(1), model: "small", charge: "0.10", calls: 1 },
    { ...day(1), model: "large", charge: "0.200000001", calls: 2 },
    { ...day(3), model: "small", charge: "5.00", calls: 1 },
  ]);
  const { bars, series, periods } = arrangeUsage(usage, byModel);
  expect(bars.map(({ id, mark, text }) => [id, mark, text])).toEqual([
    ["2026-11-01", "Nov 1", "$0.300000001"],
    ["2026-11-02", "Nov 2", "$0.00"],
    ["2026-11-03", "Nov 3", "$5.00"],
  ]);
  expect(bars.map(({ parts }) => parts.map(({ id, text }) => `${id} ${text}`))).toEqual([
    ["small $0.10", "large $0.200000001"],
    [],
    ["small $5.00"],
  ]);
  expect(series.map(({ id, sums }) => [id, sums.charge])).toEqual([
    ["small", "5.10"],
    ["large", "0.200000001"],
  ]);
  expect([...periods]).toEqual([
    ["2026-11-01", day(1)],
    ["2026-11-03", day(3)],
  ]);
});

test("series beyond the palette are merged, and nothing is lost", () => {
  const models = Array.from({ length: 9 }, (_, index) => `m${index}`);
  const usage = writeUsage(models.map((model, index) => ({ ...day(2), model, charge: `${10 - index}.00` })));
  const { bars, series } = arrangeUsage(usage, byModel);
  expect(series.map(({ name }) => name)).toEqual(["m0", "m1", "m2", "m3", "m4", "m5", "3 other models"]);
  expect(series.at(-1)?.sums.charge).toBe("9.00");
  expect(bars[1]?.parts.at(-1)).toMatchObject({ text: "$9.00", size: 9, colour: restColour });
  expect(series.map(({ id }) => isNamed(id))).toEqual([true, true, true, true, true, true, false]);
});

test("charges without a key are shown, and cannot be filtered by key", () => {
  const usage = writeUsage([{ ...day(1), key_id: null, calls: 3 }]);
  const { series, bars } = arrangeUsage(usage, { ...byModel, by: "key", show: "calls" });
  expect(series.map(({ id, name }) => [isNamed(id), name])).toEqual([[false, "Unknown key"]]);
  expect(bars[0]?.text).toBe("3");
});

test("hours are in the account's time zone", () => {
  const hour = { from: "2026-11-01T01:00:00.000Z", to: "2026-11-01T02:00:00.000Z" };
  const period = { from: "2026-10-31T23:00:00.000Z", to: "2026-11-01T23:00:00.000Z" };
  const usage = writeUsage([{ ...hour, model: "small", input_tokens: 1000, output_tokens: 500 }], period);
  const { bars, periods } = arrangeUsage(usage, { ...byModel, show: "tokens", cut: "hour" });
  expect(bars).toHaveLength(24);
  expect(bars[2]).toMatchObject({ id: hour.from, mark: "02:00", text: "1,500" });
  expect(periods.get(hour.from)).toEqual(hour);
});

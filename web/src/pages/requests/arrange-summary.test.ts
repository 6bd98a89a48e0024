import { expect, test } from "vitest";
import type { RequestSummary } from "../../api/fetch-requests.ts";
import { arrangeSummary, findBucketSpan, findBusySpan, writeErrorRate } from "./arrange-summary.ts";

const none = { count: 0, "1xx": 0, "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0, hung_up: 0 };
const figures = { ...none, latency_ms: null, time_to_first_token_ms: null };
const summary: RequestSummary = {
  object: "request_summary",
  from: "2026-11-17T10:00:00.000Z",
  to: "2026-11-17T10:10:00.000Z",
  partial: false,
  bucket_seconds: 300,
  buckets: [
    { from: "2026-11-17T10:00:00.000Z", ...figures, count: 1204, "2xx": 1200, "5xx": 4 },
    { from: "2026-11-17T10:05:00.000Z", ...figures },
  ],
  total: { ...figures, count: 1204, "2xx": 1200, "5xx": 4 },
  errors: [],
};

test("a bar counts requests by status in the account's time zone; an empty bucket is a gap", () => {
  expect(arrangeSummary(summary, "Asia/Tokyo")).toEqual([
    {
      ...{ id: "2026-11-17T10:00:00.000Z", name: "Nov 17, 19:00", mark: "19:00", text: "1,204 requests" },
      parts: [
        { id: "2xx", name: "2xx Succeeded", size: 1200, text: "1,200", colour: 0 },
        { id: "5xx", name: "5xx Failed", size: 4, text: "4", colour: 4 },
      ],
    },
    { id: "2026-11-17T10:05:00.000Z", name: "Nov 17, 19:05", mark: "19:05", text: "0 requests", parts: [] },
  ]);
  expect(arrangeSummary({ ...summary, from: "2026-11-01T00:00:00Z" }, "UTC")[0]?.mark).toBe("Nov 17");
});

test("the charts adapt to the part of the period with requests", () => {
  const empty = (minute: number) => ({ from: `2026-11-17T10:${minute}:00.000Z`, ...figures });
  const buckets = [empty(10), { ...empty(15), count: 43, "2xx": 43 }, empty(20), empty(25)];
  expect(findBusySpan({ ...summary, buckets })).toEqual({
    from: "2026-11-17T10:15:00.000Z",
    to: "2026-11-17T10:20:00.000Z",
  });
  expect(findBusySpan(summary)).toBeNull();
  expect(findBusySpan({ ...summary, buckets: [empty(10), empty(15)] })).toBeNull();
});

test("a bar has a period, and the total an error rate", () => {
  expect(findBucketSpan(summary, "2026-11-17T10:05:00.000Z")).toEqual({
    from: "2026-11-17T10:05:00.000Z",
    to: "2026-11-17T10:10:00.000Z",
  });
  expect(writeErrorRate(summary.total)).toBe("0.3%");
  expect(writeErrorRate({ ...figures })).toBe("–");
});

import { expect, test } from "vitest";
import { nano } from "../../lib/money.ts";
import type { TaskTerms } from "./task.ts";
import { presentTerms, type TaskRow, toTask } from "./task-rows.ts";

const now = new Date("2026-11-15T12:00:00Z");

const row: TaskRow = {
  ...{ id: "task_a", account_id: "acct_a", key_id: "key_a", parent_id: null, type: "image", model: "m" },
  ...{
    state: "queued",
    phase: "ready",
    progress: 0,
    version: 1,
    request: { type: "image" },
    inputs: [],
    steps: [],
    hold_id: null,
  },
  ...{ output_ids: [], output: [], warnings: [], error: null, charge: 0n, units: 0n, metadata: null },
  ...{
    callback_url: null,
    request_id: "req_a",
    traceparent: null,
    client_request_id: null,
    target: null,
    provider_id: null,
    handle: null,
    tried: [],
  },
  ...{ waits_for: null, lost_at: null, cancel_requested_at: null, cancel_sent_at: null, deadline_at: now },
  ...{ created_at: now, submitted_at: null, started_at: null, finished_at: null, updated_at: now, terms: {} },
  ...{ prompt_erased_at: null },
};

/** Beyond the precision of JSON numbers. */
const huge = 9_007_199_254_740_993n;

test.for<[string, bigint | null]>([
  ["without a budget", null],
  ["with a budget", huge],
])("terms %s round-trip through the database to the last nano", ([, budget]) => {
  const terms: TaskTerms = {
    ...{ priceId: "price_a", rate: nano(huge), per: 1000n, minimum: nano(huge + 2n), counts: "characters" },
    ...{ unitsMax: huge, quota: { kind: "text", unitsMax: huge } },
    extras: [{ name: "calls", quantity: 1n, rate: nano(huge) }],
    budgetAmount: budget === null ? null : nano(budget),
  };
  const stored: unknown = JSON.parse(JSON.stringify(presentTerms(terms)));
  expect(toTask({ ...row, terms: stored }).terms).toEqual(terms);
});

test("an output's expiry round-trips as a date", () => {
  const output = [{ type: "image", fileId: "file_a", expiresAt: now.toISOString() }];
  const terms = { ...presentTerms({ ...emptyTerms }), rate: "0" };
  expect(toTask({ ...row, terms, output }).output).toEqual([{ type: "image", fileId: "file_a", expiresAt: now }]);
});

const accepted = {
  target: { providerId: "p", upstreamModel: "m", keyNumber: 0 },
  handle: { id: "1" },
  submitted_at: now,
};
const { handle: _, ...unanswered } = accepted;

test.for<[string, Partial<TaskRow>]>([
  ["running without a handle", { phase: "running", ...unanswered }],
  ["running without a target", { phase: "running", ...accepted, target: null }],
  ["running without a time of its submission", { phase: "running", ...accepted, submitted_at: null }],
  ["running and finished", { phase: "running", ...accepted, finished_at: now }],
  ["submitting without a target", { phase: "submitting" }],
  ["unknown with a handle", { phase: "unknown", ...accepted }],
  ["ready with a handle", { phase: "ready", handle: { id: "1" } }],
  ["ready although it has succeeded", { phase: "ready", state: "succeeded", finished_at: now }],
  ["ended without a time", { phase: "ended", state: "succeeded" }],
  ["ended although it is queued", { phase: "ended", finished_at: now }],
  ["failed without an error", { phase: "ended", state: "failed", finished_at: now }],
  ["a drama at an upstream", { type: "drama", request: { type: "drama" }, phase: "running", ...accepted }],
  ["a drama that is being handed over", { type: "drama", request: { type: "drama" }, phase: "submitting" }],
  ["of another type than its request", { type: "drama" }],
])("an inconsistent row throws an error that names it: %s", ([, fields]) => {
  const terms = { ...presentTerms({ ...emptyTerms }), rate: "0" };
  expect(() => toTask({ ...row, terms, ...fields })).toThrow("task_a");
});

test.for<[string, Partial<TaskRow>]>([
  ["running at an upstream", { phase: "running", ...accepted }],
  ["being handed over", { phase: "submitting", target: accepted.target }],
  ["a drama whose children run", { type: "drama", request: { type: "drama" }, phase: "running", state: "processing" }],
  ["canceled before it began", { phase: "ended", state: "canceled", finished_at: now }],
])("a consistent row becomes a task: %s", ([, fields]) => {
  const terms = { ...presentTerms({ ...emptyTerms }), rate: "0" };
  expect(toTask({ ...row, terms, ...fields })).toMatchObject({ id: "task_a", phase: fields.phase });
});

const emptyTerms: TaskTerms = {
  ...{ priceId: "price_a", rate: nano(0n), per: 1n, minimum: nano(0n), counts: "calls", unitsMax: 1n },
  ...{ quota: { kind: "image", unitsMax: 1n }, budgetAmount: null, extras: [] },
};

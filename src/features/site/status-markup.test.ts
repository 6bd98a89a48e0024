import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import type { StatusPage } from "../status/index.ts";
import { createStatusMarkup } from "./status-markup.ts";

type StatusView = Awaited<ReturnType<StatusPage["read"]>>;

let folder: string;
let programPath: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-status-"));
  programPath = join(folder, "render-status.mjs");
  writeFileSync(programPath, "let runs = 0; export const renderStatus = (status) => status.state + (runs += 1);");
});
afterAll(() => rmSync(folder, { recursive: true }));

const at = new Date("2027-03-10T12:00:00Z");
const view: StatusView = { state: "ok", at, firstDay: "2026-12-11", models: [], endpoints: [], incidents: [] };
const line = { id: "talk", name: "Talk", type: "chat", state: "ok", uptime: null, days: [] } as const;

function open(read: () => Promise<StatusView>) {
  const clock = createTestClock(at);
  const warnings: string[] = [];
  const logger = { warn: (_fields: unknown, text?: string) => void warnings.push(text ?? "") };
  return { clock, warnings, readMarkup: createStatusMarkup({ statusPage: { read }, clock, logger, programPath }) };
}

test("the data is read every 5 s, and rendered when it has changed", async () => {
  let current = view;
  let reads = 0;
  const { clock, readMarkup } = open(async () => {
    reads += 1;
    return current;
  });
  const [first = ""] = await Promise.all([readMarkup(), readMarkup()]);
  expect(await readMarkup()).toBe(first);
  expect(reads).toBe(1);
  clock.advance(5_000);
  expect(await readMarkup()).toBe(first);
  expect(reads).toBe(2);
  current = { ...view, state: "degraded" };
  clock.advance(5_000);
  expect(await readMarkup()).toMatch(/^degraded/);
});

test("without a database the page has no data, and a query is sent every 5 s only", async () => {
  let reads = 0;
  const { clock, warnings, readMarkup } = open(async () => {
    reads += 1;
    throw new Error("The database is away.");
  });
  expect([await readMarkup(), await readMarkup(), await readMarkup()]).toEqual([null, null, null]);
  expect(reads).toBe(1);
  expect(warnings).toEqual(["status page sent without data"]);
  clock.advance(5_000);
  expect(await readMarkup()).toBeNull();
  expect(reads).toBe(2);
});

test("a catalog with hundreds of models is left to the page's script", async () => {
  const { readMarkup } = open(async () => ({ ...view, models: Array.from({ length: 301 }, () => line) }));
  expect(await readMarkup()).toBeNull();
});

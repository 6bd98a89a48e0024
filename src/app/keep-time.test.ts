import { expect, test } from "vitest";
import { createDatabaseClock } from "../platform/database/database-clock.ts";
import { createLogger } from "../platform/observability/logger.ts";
import { keepTime } from "./keep-time.ts";

function createWorld(machineAheadMs: number) {
  const machine = { aheadMs: machineAheadMs };
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({ level: "info", format: "json", write: (line) => lines.push(JSON.parse(line)) });
  const clock = createDatabaseClock({ now: () => new Date(1000 + machine.aheadMs), monotonicMs: () => 0 });
  const time = keepTime(clock, logger);
  const calls: string[] = [];
  time.whenAgreed(() => calls.push("begun"));
  return { time, machine, lines, calls, hear: () => time.hear({ serverMs: 1000, askedMs: 0, answeredMs: 0 }) };
}

test("a gateway with a wrong clock logs the offset and starts work once the clocks agree", () => {
  const { time, machine, lines, calls, hear } = createWorld(-20_000);
  hear();
  hear();
  expect([time.hasAgreed(), calls]).toEqual([false, []]);
  expect(time.requireAgreement).toThrow(
    "This node is out of service: its clock is 20.0 s behind the database's. Retry on a new connection.",
  );
  machine.aheadMs = 0;
  hear();
  expect([time.hasAgreed(), calls]).toEqual([true, ["begun"]]);
  time.requireAgreement();

  machine.aheadMs = 7_200_000;
  hear();
  expect([time.hasAgreed(), calls]).toEqual([true, ["begun"]]);
  expect(time.requireAgreement).toThrow("7200.0 s ahead of the database's");
  expect(lines).toMatchObject([
    { level: "error", ahead_seconds: -20 },
    { level: "info", ahead_seconds: 0 },
    { level: "error", ahead_seconds: 7200 },
  ]);
});

test("a gateway closed before the clocks agree starts no work", () => {
  const { time, machine, calls, hear } = createWorld(5000);
  hear();
  time.close();
  machine.aheadMs = 0;
  hear();
  expect(calls).toEqual([]);
});

test("without a database clock, as in tests, the clocks always agree", () => {
  const time = keepTime(undefined, createLogger({ level: "info", format: "json", write: () => {} }));
  const calls: string[] = [];
  time.whenAgreed(() => calls.push("begun"));
  time.requireAgreement();
  expect([time.hasAgreed(), calls]).toEqual([true, ["begun"]]);
});

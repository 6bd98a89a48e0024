import { expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createLogger } from "./logger.ts";
import { createOutageLog } from "./outage-log.ts";

test("an outage is logged once at its start and once at its end, with duration and failures", () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({ level: "debug", format: "json", write: (line) => lines.push(JSON.parse(line)) });
  const clock = createTestClock();
  const outage = createOutageLog({ logger, clock, begins: "it waits", ends: "it goes on" });
  outage.onRecovery();
  expect([lines, outage.isOngoing()]).toEqual([[], false]);
  for (let tries = 0; tries < 30; tries += 1) {
    outage.onTrouble(new Error(`no. ${tries}`));
    clock.advance(100);
  }
  expect(lines).toMatchObject([{ level: "warn", msg: "it waits", error: { message: "no. 0" } }]);
  expect(outage.isOngoing()).toBe(true);
  outage.onRecovery();
  outage.onRecovery();
  expect(lines.slice(1)).toMatchObject([{ level: "info", msg: "it goes on", after_ms: 3000, failed_tries: 30 }]);
  outage.onTrouble(new Error("again"));
  expect(lines.slice(2)).toMatchObject([{ msg: "it waits", error: { message: "again" } }]);
});

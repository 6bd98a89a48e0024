import { expect, test } from "vitest";
import { databaseLimits } from "./database-limits.ts";
import { isDatabaseUnavailable } from "./unavailable.ts";

const fail = (fields: Record<string, string>, message = "") => Object.assign(new Error(message), fields);

test.each([
  ["is read-only", fail({ code: "25006" })],
  ["has a full disk", fail({ code: "53100" })],
  ["has no connection left", fail({ code: "53300" })],
  ["is starting, or a standby that does not answer", fail({ code: "57P03" })],
  ["was stopped by its operator", fail({ code: "57P01" })],
  ["took too long", fail({ code: "57014" })],
  ["refuses connections", fail({ code: "ECONNREFUSED", syscall: "connect" })],
  ["has a host name that cannot be resolved", fail({ code: "EAI_AGAIN", syscall: "getaddrinfo" })],
  ["cut the connection", fail({ code: "ECONNRESET" })],
  ["ended the connection", fail({}, "Connection terminated unexpectedly")],
  ["did not accept in time", fail({}, "timeout expired")],
])("a database that %s is unavailable", (_name, error) => {
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test.each([
  ["a duplicate key", fail({ code: "23505" })],
  ["a syntax error", fail({ code: "42601" })],
  ["a programming error", new Error("undefined is not a function")],
  ["a value that is not an error", "57P01"],
])("%s is not", (_name, error) => {
  expect(isDatabaseUnavailable(error)).toBe(false);
});

test("all timeouts lead to a response within five seconds", () => {
  const { suspectMs, examineMsMax, connectMsMax, queueMsMax, holdMsMax, deadConnectionMsMax } = databaseLimits;
  const foundSilentMs = suspectMs + suspectMs / 4 + examineMsMax;
  for (const ms of [foundSilentMs, connectMsMax, queueMsMax, holdMsMax, deadConnectionMsMax])
    expect(ms).toBeLessThan(5000);
});

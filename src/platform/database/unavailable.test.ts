import { expect, test } from "vitest";
import { databaseLimits } from "./database-limits.ts";
import { isDatabaseUnavailable } from "./unavailable.ts";

const fail = (fields: Record<string, string>, message = "") => Object.assign(new Error(message), fields);

test.each([
  ["takes reads only", fail({ code: "25006" })],
  ["has a full disk", fail({ code: "53100" })],
  ["has no connection left", fail({ code: "53300" })],
  ["is starting, or a standby that does not answer", fail({ code: "57P03" })],
  ["was stopped by its operator", fail({ code: "57P01" })],
  ["took too long", fail({ code: "57014" })],
  ["refuses connections", fail({ code: "ECONNREFUSED", syscall: "connect" })],
  ["has a name that is not known at the moment", fail({ code: "EAI_AGAIN", syscall: "getaddrinfo" })],
  ["cut the connection", fail({ code: "ECONNRESET" })],
  ["ended the connection", fail({}, "Connection terminated unexpectedly")],
  ["did not accept in time", fail({}, "timeout expired")],
])("a database that %s is unavailable", (_name, error) => {
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test.each([
  ["a row that is there already", fail({ code: "23505" })],
  ["a statement that is wrong", fail({ code: "42601" })],
  ["a mistake of ours", new Error("undefined is not a function")],
  ["what is no error", "57P01"],
])("%s is not", (_name, error) => {
  expect(isDatabaseUnavailable(error)).toBe(false);
});

test("whatever happens, the limits add up to an answer within five seconds", () => {
  const { suspectMs, examineMsMax, connectMsMax, queueMsMax, holdMsMax, deadLineMsMax } = databaseLimits;
  const foundSilentMs = suspectMs + suspectMs / 4 + examineMsMax;
  for (const ms of [foundSilentMs, connectMsMax, queueMsMax, holdMsMax, deadLineMsMax]) expect(ms).toBeLessThan(5000);
});

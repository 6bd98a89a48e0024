import { describe, expect, test } from "vitest";
import { type ConnectRequest, decideProgress, presentCallback } from "./connect-request.ts";

const now = new Date("2026-06-01T00:00:00Z");
const before = new Date(now.getTime() - 1);
const after = new Date(now.getTime() + 1);
const way = {
  kind: "browser",
  redirectUri: "http://localhost:1/callback",
  clientState: "a%20b",
  codeChallenge: null,
} as const;
const request: ConnectRequest = {
  id: "r",
  client: "tool",
  way,
  state: "open",
  owner: null,
  terms: { days: null, budget: null },
  keyId: null,
  expiresAt: after,
};

describe("state of a request", () => {
  test.each<[string, Partial<ConnectRequest>, boolean, string]>([
    ["it is undecided", {}, false, "waiting"],
    ["it expired undecided", { expiresAt: now }, false, "expired"],
    ["it was denied", { state: "denied" }, false, "denied"],
    ["it was denied long ago", { state: "denied", expiresAt: before }, false, "denied"],
    ["its code is not exchanged yet", { state: "approved" }, false, "waiting"],
    ["its code has expired", { state: "approved", expiresAt: before }, false, "expired"],
    ["its code was exchanged", { state: "delivered", keyId: "key_1", expiresAt: before }, false, "delivered"],
    ["its key is unused", { state: "approved", keyId: "key_1" }, false, "waiting"],
    ["its key is unused after the expiry", { state: "approved", keyId: "key_1", expiresAt: before }, false, "waiting"],
    ["its key was used", { state: "approved", keyId: "key_1", expiresAt: before }, true, "delivered"],
  ])("%s", (_when, changes, isKeyUsed, progress) => {
    expect(decideProgress({ ...request, ...changes }, { now, isKeyUsed })).toBe(progress);
  });
});

test("the callback URL carries the program's state", () => {
  expect(presentCallback(way, { api_key: "sk-slc-x" })).toBe(
    "http://localhost:1/callback?api_key=sk-slc-x&state=a%20b",
  );
  expect(presentCallback(way, { code: "c_-" })).toBe("http://localhost:1/callback?code=c_-&state=a%20b");
  expect(presentCallback(way, { error: "access_denied" })).toBe(
    "http://localhost:1/callback?error=access_denied&state=a%20b",
  );
});

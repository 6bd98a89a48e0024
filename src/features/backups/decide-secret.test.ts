import { expect, test } from "vitest";
import { fingerprintSecret } from "../../platform/config/master-key.ts";
import { decideSecret } from "./decide-secret.ts";

const secret = "the original's secret key, long enough";
const question = { fingerprint: fingerprintSecret(secret), here: null, inBackup: null, acceptsNew: false };

test("a copy gets the original's secret key, by the backup or by the operator, or none where that is wanted", () => {
  expect(decideSecret({ ...question, inBackup: secret })).toBe(secret);
  expect(decideSecret({ ...question, here: secret })).toBeNull();
  expect(decideSecret({ ...question, here: "another", acceptsNew: true })).toBeNull();
  expect(decideSecret({ ...question, fingerprint: null })).toBeNull();
});

test("a copy that could not read its secrets is refused", () => {
  expect(() => decideSecret(question)).toThrow("The backup has no secret key");
  expect(() => decideSecret({ ...question, here: "another" })).toThrow("not the one of the backup");
  // The key that is there stays: it may be another gateway's.
  expect(() => decideSecret({ ...question, here: "another", inBackup: secret })).toThrow("not the one of the backup");
});

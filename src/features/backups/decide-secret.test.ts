import { expect, test } from "vitest";
import { fingerprintSecret } from "../../platform/config/master-key.ts";
import { decideSecret } from "./decide-secret.ts";

const secret = "the original's secret key, long enough";
const question = { fingerprint: fingerprintSecret(secret), here: null, inBackup: null, acceptsNew: false };

test("a copy gets the original's secret key from the backup or the operator, or none on request", () => {
  expect(decideSecret({ ...question, inBackup: secret })).toBe(secret);
  expect(decideSecret({ ...question, here: secret })).toBeNull();
  expect(decideSecret({ ...question, here: "another", acceptsNew: true })).toBeNull();
  expect(decideSecret({ ...question, fingerprint: null })).toBeNull();
});

test("a copy that could not decrypt its secrets is rejected", () => {
  expect(() => decideSecret(question)).toThrow("The backup contains no secret key");
  expect(() => decideSecret({ ...question, here: "another" })).toThrow("not the backup");
  // An existing key is not replaced: it may belong to another gateway.
  expect(() => decideSecret({ ...question, here: "another", inBackup: secret })).toThrow("not the backup");
});

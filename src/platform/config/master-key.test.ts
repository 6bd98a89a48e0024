import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openMasterKey } from "./master-key.ts";

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sluice-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("processes that start at once on a new folder share one key, in a file with mode 0600", async () => {
  const data_dir = join(makeFolder(), "new");
  const keys = await Promise.all(Array.from({ length: 20 }, () => openMasterKey({ data_dir }, randomBytes)));
  expect(new Set(keys.map((key) => key.derive("links").toString("hex"))).size).toBe(1);
  expect(readdirSync(data_dir)).toEqual(["secret.key"]);
  expect(statSync(join(data_dir, "secret.key")).mode & 0o777).toBe(0o600);
});

test("each purpose derives its own key, and secret_key takes precedence over the file", async () => {
  const data_dir = makeFolder();
  const own = await openMasterKey({ data_dir }, randomBytes);
  const set = await openMasterKey({ data_dir, secret_key: "x".repeat(32) }, randomBytes);
  const again = await openMasterKey({ data_dir: "/nowhere", secret_key: "x".repeat(32) }, randomBytes);
  expect(own.derive("links")).not.toEqual(own.derive("secrets"));
  expect(own.derive("links")).not.toEqual(set.derive("links"));
  expect(set.derive("links")).toEqual(again.derive("links"));
  expect(set.derive("links")).toHaveLength(32);
});

test("a key that is too short is rejected", async () => {
  await expect(openMasterKey({ data_dir: makeFolder(), secret_key: "short" }, randomBytes)).rejects.toThrow(/too few/);
});

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/harness/test-database.ts";
import { type AccountId, createIdSource } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { createDatabase, type Database } from "../../platform/database/database.ts";
import { createAccount } from "../accounts/index.ts";
import { type Claim, claimKey, type KeptAnswer } from "../idempotency/index.ts";
import { concludeKept, createRecorder } from "./conclude-call.ts";
import type { Settlement } from "./paid-endpoint.ts";

const mebibyte = 1024 * 1024;

describe("a recorder", () => {
  test("gives back what it was given, in order", () => {
    const recorder = createRecorder();
    for (const text of ["a", "", "世", "b"]) recorder.add(text);
    expect(recorder.join()?.toString()).toBe("a世b");
    recorder.add(Buffer.from("c"));
    expect(recorder.join()?.toString()).toBe("a世bc");
  });

  test("has all of a mebibyte, and nothing of more, whatever comes then", () => {
    const recorder = createRecorder();
    for (let count = 0; count < 16; count += 1) recorder.add("x".repeat(mebibyte / 16));
    expect(recorder.join()).toHaveLength(mebibyte);
    recorder.add("x");
    expect(recorder.join()).toBeNull();
    recorder.add("");
    expect(recorder.join()).toBeNull();
  });

  test("has nothing of fewer characters that are more bytes", () => {
    const recorder = createRecorder();
    recorder.add("世".repeat(mebibyte / 2));
    expect(recorder.join()).toBeNull();
  });
});

describe("the end of a call with a key", () => {
  const clock = createTestClock();
  const ids = createIdSource({ clock, randomBytes });
  const settlement: Settlement = { charge: nano(140_000_000n), lost: nano(0n) };
  let testDatabase: TestDatabase;
  let database: Database;
  let accountId: AccountId;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    const address = { connectionString: testDatabase.url };
    database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
    const account = await createAccount({ database, clock, ids }, { email: "ada@example.com" });
    accountId = account.id;
  });
  afterAll(async () => {
    await database.destroy();
    await testDatabase.close();
  });

  async function claim(key: string): Promise<Claim> {
    const wanted = { accountId, key, requestId: ids.next("req"), holdId: null, fingerprint: Buffer.alloc(32) };
    expect(await look(wanted)).toBeNull();
    return wanted;
  }

  /** What a request with the key finds: an answer, or `null` when it may run. */
  async function look(wanted: Claim): Promise<KeptAnswer | null> {
    const parts = { database, clock, validityMs: 3_600_000, releaseHold: async () => {} };
    const outcome = await claimKey(parts, { ...wanted, holdId: null, fingerprint: Buffer.alloc(32) });
    return outcome.kind === "answered" ? outcome.answer : null;
  }

  const summary = "It cost 0.14.";
  const keep = (body: Buffer | null) => (): KeptAnswer => ({
    status: 200,
    contentType: "application/json",
    body,
    summary,
  });
  const settle = async (): Promise<Settlement> => settlement;

  test.each([
    ["an answer is kept", Buffer.from("Hello, 世界")],
    ["one that is too large is remembered without its body", null],
  ])("%s", async (name, body) => {
    const held = await claim(name.replaceAll(" ", "-"));
    expect(await concludeKept({ database, clock }, held, { settle, describe: keep(body) })).toBe(settlement);
    expect(await look(held)).toEqual({ status: 200, contentType: "application/json", summary, body });
  });

  test("where nothing was answered, the key is free", async () => {
    const held = await claim("nothing");
    await concludeKept({ database, clock }, held, { settle, describe: () => null });
    expect(await look({ ...held, requestId: ids.next("req") })).toBeNull();
  });

  test("what cannot be charged is not kept either", async () => {
    const held = await claim("uncharged");
    const fail = async (): Promise<Settlement> => {
      throw new Error("no money moves");
    };
    const kept = { settle: fail, describe: keep(Buffer.from("Hello")) };
    await expect(concludeKept({ database, clock }, held, kept)).rejects.toThrow("no money moves");
    await expect(look(held)).rejects.toThrow("still running");
  });

  test("whoever lost the key charges nothing", async () => {
    const held = await claim("lost");
    clock.advance(60_000);
    await claim("lost");
    let settled = 0;
    const count = async (): Promise<Settlement> => {
      settled += 1;
      return settlement;
    };
    for (const describe of [keep(Buffer.from("Hello")), () => null]) {
      const kept = { settle: count, describe };
      await expect(concludeKept({ database, clock }, held, kept)).rejects.toThrow("taken over");
    }
    expect(settled).toBe(0);
    await expect(look(held)).rejects.toThrow("still running");
  });
});

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/harness/test-database.ts";
import { type AccountId, createIdSource } from "../../lib/ids.ts";
import { nano } from "../../lib/money.ts";
import { createDatabase, type Database } from "../../platform/database/database.ts";
import { createAccount } from "../accounts/index.ts";
import { type Claim, claimKey, type KeptAnswer } from "../idempotency/index.ts";
import { createKeptConclusion, createRecorder } from "./keep-chat.ts";
import type { Settlement } from "./pay-chat.ts";
import { createUsage } from "./quote-chat.ts";

const mebibyte = 1024 * 1024;

describe("a recorder", () => {
  test("gives back what it was given, in order", () => {
    const recorder = createRecorder();
    for (const text of ["a", "", "世", "b"]) recorder.add(text);
    expect(recorder.join()).toBe("a世b");
    recorder.add("c");
    expect(recorder.join()).toBe("a世bc");
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
});

describe("the end of a call with a key", () => {
  const clock = createTestClock();
  const ids = createIdSource({ clock, randomBytes });
  const usage = createUsage(100, 20);
  const settlement: Settlement = { charge: nano(140_000_000n), lost: nano(0n) };
  const end = { choices: null, usage, stoppedBy: null, failure: null, hasHungUp: false };
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

  function conclude(held: Claim, body: string | null) {
    const present = () => ({ contentType: "application/json", body });
    return createKeptConclusion({ database, clock }, held, { completionId: "chatcmpl-1", present });
  }

  const summary = "Its id is chatcmpl-1; it had 100 prompt tokens and 20 completion tokens and cost 0.14.";

  test.each([
    ["an answer is kept", "Hello, 世界", "Hello, 世界"],
    ["a mebibyte is kept", "x".repeat(mebibyte), "x".repeat(mebibyte)],
    ["a byte more is not", "x".repeat(mebibyte + 1), null],
    ["fewer characters, but more bytes, are not", "世".repeat(mebibyte / 2), null],
    ["what was too much to collect is not", null, null],
  ])("%s", async (name, body, kept) => {
    const held = await claim(name.replaceAll(" ", "-"));
    expect(await conclude(held, body)({ settle: async () => settlement }, usage, end)).toBe(settlement);
    const found = await look(held);
    expect({ ...found, body: null }).toEqual({ status: 200, contentType: "application/json", summary, body: null });
    // As texts, because a comparison of so many bytes takes seconds.
    expect(found?.body?.toString("utf8") ?? null).toBe(kept);
  });

  test("where nothing was answered, the key is free", async () => {
    const held = await claim("nothing");
    await conclude(held, "unused")({ settle: async () => settlement }, null, null);
    expect(await look({ ...held, requestId: ids.next("req") })).toBeNull();
  });

  test("what cannot be charged is not kept either", async () => {
    const held = await claim("uncharged");
    const settle = async (): Promise<Settlement> => {
      throw new Error("no money moves");
    };
    await expect(conclude(held, "Hello")({ settle }, usage, end)).rejects.toThrow("no money moves");
    await expect(look(held)).rejects.toThrow("still running");
  });

  test("whoever lost the key charges nothing", async () => {
    const held = await claim("lost");
    clock.advance(60_000);
    await claim("lost");
    let settled = 0;
    const settle = async (): Promise<Settlement> => {
      settled += 1;
      return settlement;
    };
    for (const answered of [end, null]) {
      await expect(conclude(held, "Hello")({ settle }, usage, answered)).rejects.toThrow("taken over");
    }
    expect(settled).toBe(0);
    await expect(look(held)).rejects.toThrow("still running");
  });
});

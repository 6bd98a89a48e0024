import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createAccounts } from "../../../test/harness/ledger/ledger-process.ts";
import { createTestClock } from "../../../test/harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/harness/test-database.ts";
import { waitUntil } from "../../../test/harness/wait-until.ts";
import { type AccountId, createIdSource } from "../../lib/ids.ts";
import { createDatabase, type Database } from "../../platform/database/database.ts";
import { claimKey, recallAnswer } from "./claim-key.ts";
import type { Claim } from "./idempotency-key.ts";
import { findKey } from "./idempotency-store.ts";
import { claimWithAnswers, freeKey, keepAnswer, lockClaim, renewClaim, withdrawClaims } from "./keep-answer.ts";

const second = 1000;
const clock = createTestClock();
const ids = createIdSource({ clock, randomBytes });
let testDatabase: TestDatabase;
let database: Database;
let accountId: AccountId;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const address = { connectionString: testDatabase.url };
  database = createDatabase({ address, connectionsMax: 2, onConnectionError: () => {} });
  [accountId = "acct_none"] = await createAccounts(database, ["a"]);
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.close();
});

async function claim(key: string): Promise<Claim> {
  const parts = { database, clock, validityMs: 3600 * second, releaseHold: async () => {} };
  const wanted = { accountId, key, requestId: ids.next("req"), holdId: null, fingerprint: Buffer.alloc(32) };
  const outcome = await claimKey(parts, wanted);
  if (outcome.kind !== "claimed") throw new Error("The key is taken.");
  return wanted;
}

async function readLease(key: string): Promise<number> {
  const known = await findKey(database, { accountId, key });
  return ((known?.leaseUntil.getTime() ?? 0) - clock.now().getTime()) / second;
}

describe("a claim", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const onTrouble = (error: unknown): void => {
    throw error;
  };

  function pass(seconds: number): void {
    clock.advance(seconds * second);
    vi.advanceTimersByTime(seconds * second);
  }

  test("is renewed before its lease expires, until it is stopped", async () => {
    const held = await claim("renewed");
    const stop = renewClaim({ database, clock, onTrouble }, held);
    expect(await readLease("renewed")).toBe(60);
    for (let round = 0; round < 6; round += 1) {
      pass(20);
      await waitUntil("the claim to be renewed", async () => (await readLease("renewed")) === 60);
    }
    stop();
    pass(20);
    expect([vi.getTimerCount(), await readLease("renewed")]).toEqual([0, 40]);
  });

  test("that another request has taken over is not renewed by the first", async () => {
    const first = await claim("taken");
    const stop = renewClaim({ database, clock, onTrouble }, first);
    clock.advance(60 * second);
    const other = await claim("taken");
    clock.advance(10 * second);
    vi.advanceTimersByTime(20 * second);
    const witness = await claim("witness");
    const stopWitness = renewClaim({ database, clock, onTrouble }, witness);
    pass(20);
    // The first claim's renewal was sent before the witness's.
    await waitUntil("the witness to be renewed", async () => (await readLease("witness")) === 60);
    stop();
    stopWitness();
    expect([await readLease("taken"), (await findKey(database, other))?.requestId]).toEqual([30, other.requestId]);
  });

  test("reports a failed renewal and retries", async () => {
    const address = { connectionString: testDatabase.url.replace("/test_", "/no_test_") };
    const lost = createDatabase({ address, connectionsMax: 1, onConnectionError: () => {} });
    const held = await claim("lost");
    const troubles: unknown[] = [];
    const stop = renewClaim({ database: lost, clock, onTrouble: (error) => troubles.push(error) }, held);
    pass(20);
    await waitUntil("trouble", () => troubles.length === 1);
    pass(20);
    await waitUntil("more trouble", () => troubles.length === 2);
    stop();
    await lost.destroy();
  });
});

describe("the end of a claim", () => {
  const answer = { status: 200, contentType: "text/plain", body: Buffer.from([0, 255, 128]), summary: "It was short." };

  test("stores its response unchanged", async () => {
    const held = await claim("kept");
    await database.transaction().execute(async (tx) => {
      await lockClaim(tx, held);
      await keepAnswer(tx, held, answer);
    });
    expect((await findKey(database, held))?.answer).toEqual(answer);
  });

  test("is fenced: a request that lost its claim can neither lock, end nor free it", async () => {
    const first = await claim("fenced");
    clock.advance(60 * second);
    const other = await claim("fenced");
    const inProgress = expect.objectContaining({ code: "idempotency_in_progress" });
    await expect(database.transaction().execute((tx) => lockClaim(tx, first))).rejects.toThrow(inProgress);
    await keepAnswer(database, first, answer);
    await freeKey(database, first);
    expect(await findKey(database, other)).toMatchObject({ requestId: other.requestId, answer: null });
    await keepAnswer(database, other, answer);
    await freeKey(database, other);
    expect((await findKey(database, other))?.answer).toEqual(answer);
    await expect(database.transaction().execute((tx) => lockClaim(tx, other))).rejects.toThrow(inProgress);
  });

  test("of a freed claim cannot be locked", async () => {
    const held = await claim("freed");
    await freeKey(database, held);
    expect(await findKey(database, held)).toBeNull();
    await expect(database.transaction().execute((tx) => lockClaim(tx, held))).rejects.toThrow("taken over");
  });
});

describe("claims with their responses", () => {
  const hour = 3600 * second;
  const validity = () => ({ now: clock.now(), validityMs: hour });

  function prepare(key: string, body: string, fingerprint = Buffer.alloc(32)) {
    const answer = { status: 202, contentType: "text/plain", body: Buffer.from(body), summary: body };
    return { accountId, key, requestId: ids.next("req"), fingerprint, answer };
  }

  async function recall(key: string, fingerprint = Buffer.alloc(32)): Promise<string | null> {
    const answer = await recallAnswer({ database, clock }, { accountId, key, fingerprint });
    return answer === null ? null : String(answer.body);
  }

  test("are granted once per key, to the first of a batch", async () => {
    const [one, two, other] = [prepare("together", "1"), prepare("together", "2"), prepare("alone", "3")];
    expect(await claimWithAnswers(database, [one, two, other], validity())).toEqual(new Set([one, other]));
    expect([await recall("together"), await recall("alone")]).toEqual(["1", "3"]);
    const late = prepare("together", "4");
    expect(await claimWithAnswers(database, [late], validity())).toEqual(new Set());
    expect(await recall("together")).toBe("1");
  });

  test("belong to one account each", async () => {
    const [otherId = "acct_none"] = await createAccounts(database, ["b"]);
    const own = prepare("shared", "own");
    const others = { ...prepare("shared", "others"), accountId: otherId };
    expect(await claimWithAnswers(database, [own, others], validity())).toEqual(new Set([own, others]));
  });

  test("are rolled back with their transaction", async () => {
    const undone = new Error("undone");
    const work = database.transaction().execute(async (tx) => {
      await claimWithAnswers(tx, [prepare("undone", "1")], validity());
      throw undone;
    });
    await expect(work).rejects.toBe(undone);
    expect(await recall("undone")).toBeNull();
  });

  test("free only their own keys when they are withdrawn", async () => {
    const first = prepare("standing", "1");
    await claimWithAnswers(database, [first], validity());
    await database.transaction().execute(async (tx) => {
      const [refused, late] = [prepare("withdrawn", "2"), prepare("standing", "3")];
      expect(await claimWithAnswers(tx, [refused, late], validity())).toEqual(new Set([refused]));
      await withdrawClaims(tx, [refused, late]);
    });
    expect([await recall("withdrawn"), await recall("standing")]).toEqual([null, "1"]);
    const again = prepare("withdrawn", "4");
    expect(await claimWithAnswers(database, [again], validity())).toEqual(new Set([again]));
  });

  test("replace expired responses, never a running request", async () => {
    await claimWithAnswers(database, [prepare("old", "1")], validity());
    await claim("running");
    clock.advance(hour);
    const [fresh, other] = [prepare("old", "2", Buffer.alloc(32, 1)), prepare("running", "3")];
    expect(await claimWithAnswers(database, [fresh, other], validity())).toEqual(new Set([fresh]));
    expect(await recall("old", Buffer.alloc(32, 1))).toBe("2");
  });

  test("do not deadlock, whatever the order of their keys", async () => {
    const keys = Array.from({ length: 30 }, (_, index) => `circle-${index}`);
    const orders = [keys, keys.toReversed(), keys.toSorted(), keys.toSorted().toReversed()];
    const granted = await Promise.all(
      orders.map((order) =>
        database.transaction().execute(async (tx) => {
          const claims = order.map((key) => prepare(key, key));
          return (await claimWithAnswers(tx, claims, validity())).size;
        }),
      ),
    );
    expect(granted.reduce((sum, size) => sum + size, 0)).toBe(keys.length);
  });
});

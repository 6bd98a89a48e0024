import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { insertClaim } from "../../../src/features/idempotency/idempotency-store.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import {
  createKeyedCall,
  type KeyedAnswer,
  type KeyedCall,
  leaveDeadClaim,
  listKeys,
} from "../../harness/chat/keyed-chat.ts";
import { readRawStream } from "../../harness/chat/raw-stream.ts";
import { holdLock } from "../../harness/hold-lock.ts";
import { createRandom } from "../../harness/ledger/ledger-load.ts";
import { lockWallet } from "../../harness/ledger/lock-wallet.ts";
import { createTestClock } from "../../harness/test-clock.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";
import { startGateway, type TestGateway } from "../../harness/test-gateway.ts";
import { testSeed } from "../../harness/test-seed.ts";
import { waitUntil } from "../../harness/wait-until.ts";

const leaseMs = 60_000;
const ways = [
  { way: "whole", asked: {} },
  { way: "streamed", asked: { stream: true, stream_options: { include_usage: true } } },
] as const;

/** Two gateways that share a database and a clock. */
const clock = createTestClock(new Date());
let database: TestDatabase;
let chat: ChatGateway;
let other: TestGateway;

async function startNode(settings: Parameters<typeof startGateway>[0] = {}): Promise<TestGateway> {
  const node = await startGateway({ clock, sharedDatabase: database, ...settings });
  await waitUntil("the same catalog", () => node.catalogVersion() === chat.gateway.catalogVersion());
  return node;
}

beforeAll(async () => {
  database = await createTestDatabase();
  chat = await openChatGateway({ clock, sharedDatabase: database });
  other = await startNode();
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await chat[Symbol.asyncDispose]();
  await database.close();
});

function expectReplay(again: KeyedAnswer, first: KeyedAnswer): void {
  expect([again.status, again.isReplay, again.text]).toEqual([200, true, first.text]);
}

describe("a call whose process died", () => {
  test.each(["open", "never written", "none"] as const)(
    "frees its key after one minute and not before, with its hold: %s",
    async (hold) => {
      const call = await createKeyedCall(chat);
      await leaveDeadClaim(chat.gateway, call, { renewedAt: clock.now(), hold });
      const frozen = hold === "open" ? "2.00" : "0.00";
      clock.advance(leaseMs - 1);
      expect(await call.send()).toMatchObject({ status: 409, code: "idempotency_in_progress" });
      expect(await call.send({ node: other })).toMatchObject({ status: 409, code: "idempotency_in_progress" });
      expect(await call.caller.readBalance()).toMatchObject({ frozen });
      clock.advance(1);
      const answer = await call.send();
      expect(answer).toMatchObject({ status: 200, isReplay: false });
      await call.expectDoneOnce();
      const states = (await call.caller.listHolds()).map(({ state }) => state);
      expect(states).toEqual(hold === "open" ? ["released", "settled"] : ["settled"]);
      expectReplay(await call.send({ node: other }), answer);
    },
  );

  test("frees its key for a different request as well", async () => {
    const call = await createKeyedCall(chat);
    const { question } = await createKeyedCall(chat, { caller: call.caller });
    await leaveDeadClaim(chat.gateway, { ...call, question }, { renewedAt: clock.now(), hold: "open" });
    expect(await call.send()).toMatchObject({ status: 422, code: "idempotency_key_reused" });
    clock.advance(leaseMs);
    expect(await call.send()).toMatchObject({ status: 200, isReplay: false });
    await call.expectDoneOnce();
  });

  test("frees its key even if its own hold contains the money for the next call", async () => {
    const caller = await chat.createCaller({ cash: "2.10" });
    const call = await createKeyedCall(chat, { caller, asked: { max_tokens: 100 } });
    await leaveDeadClaim(chat.gateway, call, { renewedAt: clock.now(), hold: "open" });
    expect(await caller.readBalance()).toEqual({ available: "0.10", frozen: "2.00" });
    clock.advance(leaseMs);
    expect(await call.send()).toMatchObject({ status: 200, isReplay: false });
    await call.expectDoneOnce();
  });

  test("is claimed by one call, however many try at once, on both gateways", async () => {
    const call = await createKeyedCall(chat);
    await leaveDeadClaim(chat.gateway, call, { renewedAt: clock.now(), hold: "open" });
    clock.advance(leaseMs);
    const gate = chat.upstream.gate();
    call.script({ beforeHead: gate });
    let refusals = 0;
    const sends = Array.from({ length: 40 }, async (_, index) => {
      const answer = await call.send({ node: index % 2 === 0 ? chat.gateway : other });
      if (answer.code === "idempotency_in_progress") refusals += 1;
      return answer;
    });
    await waitUntil("all but one to be told to wait", () => refusals === 39);
    gate.open();
    const answers = await Promise.all(sends);
    expect(answers.filter(({ status, isReplay }) => status === 200 && !isReplay)).toHaveLength(1);
    await call.expectDoneOnce();
    expect((await call.caller.listHolds()).map(({ state }) => state)).toEqual(["released", "settled"]);
  });
});

describe("a database whose connection is lost for a moment", () => {
  test.each(ways)("causes no second upstream call while an answer is being stored, $way", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    call.script({ beforePiece: gate });
    const sent = call.send();
    await gate.reached();
    await waitUntil("the hold", async () => (await call.caller.listHolds()).length === 1);
    await using wallet = await lockWallet(chat.gateway.database, call.caller.accountId);
    gate.open();
    await wallet.awaited();
    await wallet.free(cutWaiting);
    const answer = await sent;
    expect(answer).toMatchObject({ status: 200, isReplay: false });
    await call.expectDoneOnce();
    expectReplay(await call.send({ node: other }), answer);
  });

  test("delays the calls that claim keys, and each key goes to one call", async () => {
    const call = await createKeyedCall(chat);
    const gate = chat.upstream.gate();
    call.script({ beforeHead: gate });
    const { accountId } = call.caller;
    // A caller that dies while claiming the key.
    await using key = await holdLock(chat.gateway.database, async (tx) => {
      const now = clock.now();
      const claim = { accountId, key: call.key, requestId: "req_undone", fingerprint: Buffer.alloc(32), holdId: null };
      await sql`savepoint unclaimed`.execute(tx);
      await insertClaim(tx, { ...claim, now, leaseUntil: now, expiresAt: now });
    });
    const sent = [call.send(), call.send({ node: other })];
    await key.awaited(2);
    await key.free(async (tx) => {
      await cutWaiting(tx);
      await sql`rollback to savepoint unclaimed`.execute(tx);
    });
    await gate.reached();
    expect(await Promise.race(sent)).toMatchObject({ status: 409, code: "idempotency_in_progress" });
    gate.open();
    expect((await Promise.all(sent)).map(({ status }) => status).toSorted()).toEqual([200, 409]);
    await call.expectDoneOnce();
  });

  /** Cuts every connection that waits for a lock. */
  async function cutWaiting(tx: Database): Promise<void> {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(tx);
  }
});

describe("a process that was presumed dead", () => {
  test.each(ways)("can neither store nor charge, $way, once another process holds its key", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    call.script({ beforePiece: gate, text: "Too late" }, { text: "In time" });
    const slow = call.send();
    await gate.reached();
    // A stream has already sent something.
    if ("stream" in asked) gate.release(1);
    await gate.reached();
    await waitUntil("the hold", async () => (await call.caller.listHolds()).length === 1);
    clock.advance(leaseMs);
    const taken = await call.send({ node: other });
    expect(taken).toMatchObject({ status: 200, isReplay: false });
    expect(taken.text).toContain("In");
    const [finished] = await listKeys(chat.gateway, call.caller);
    gate.open();
    const late = await slow;
    expect(late.text).toContain('"code":"idempotency_in_progress"');
    expect([late.status, late.text.includes("[DONE]")]).toEqual(["stream" in asked ? 200 : 409, false]);
    expect(await listKeys(chat.gateway, call.caller)).toEqual([finished]);
    expectReplay(await call.send(), taken);
    await call.caller.settled();
    expect((await call.caller.listHolds()).map(({ state }) => state)).toEqual(["released", "settled"]);
    expect(await call.caller.listCharges()).toHaveLength(1);
    expect(call.calls()).toHaveLength(2);
  });

  test.each(ways)("cannot free the other process's key, $way, when it fails", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const [late, inTime] = [chat.upstream.gate(), chat.upstream.gate()];
    call.script({ beforeHead: late, status: 400 }, { beforeHead: inTime });
    const slow = call.send();
    await late.reached();
    await waitUntil("the hold", async () => (await call.caller.listHolds()).length === 1);
    clock.advance(leaseMs);
    const taken = call.send({ node: other });
    await inTime.reached();
    late.open();
    expect(await slow).toMatchObject({ status: 400, code: "invalid_parameter" });
    expect(await call.send()).toMatchObject({ status: 409, code: "idempotency_in_progress" });
    inTime.open();
    expect(await taken).toMatchObject({ status: 200, isReplay: false });
    expectReplay(await call.send(), await taken);
    await call.caller.settled();
    expect(await call.caller.listCharges()).toHaveLength(1);
  });
});

describe("two gateways on one database", () => {
  test.each(ways)("replay each other's answers, $way, and refuse each other's key conflicts", async ({ asked }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    call.script({ beforeHead: gate });
    const running = call.send();
    await gate.reached();
    expect(await call.send({ node: other })).toMatchObject({ status: 409, code: "idempotency_in_progress" });
    gate.open();
    const first = await running;
    expectReplay(await call.send({ node: other }), first);
    const question = call.question.replace("}]", "} ]");
    expect(await call.send({ node: other, question })).toMatchObject({ status: 422 });
    await call.expectDoneOnce();
  });

  test("run a call once when a hundred clients send it to either gateway at once", async () => {
    const call = await createKeyedCall(chat);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => call.send({ node: index % 2 === 0 ? chat.gateway : other })),
    );
    const texts = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text));
    expect(texts.size).toBe(1);
    expect(answers.filter(({ status, isReplay }) => status === 200 && !isReplay)).toHaveLength(1);
    expect(answers.every(({ status, code }) => status === 200 || code === "idempotency_in_progress")).toBe(true);
    await call.expectDoneOnce();
  });

  test("keep an answer for as long as the gateway that ran the call is configured to", async () => {
    await using forgetful = await startNode({ settings: { idempotency_hours: 1 } });
    const call = await createKeyedCall(chat);
    const first = await call.send({ node: forgetful });
    clock.advance(60 * 60_000 - 1);
    expectReplay(await call.send(), first);
    clock.advance(1);
    expect(await call.send({ node: forgetful })).toMatchObject({ status: 200, isReplay: false });
    expect(await call.caller.listCharges()).toHaveLength(2);
  });

  test("never block each other, whatever is sent in whatever order", async () => {
    console.log(`random keyed calls: seed ${testSeed}`);
    const random = createRandom(testSeed);
    const caller = await chat.createCaller({ cash: "1000" });
    const keys = Array.from({ length: 20 }, (_, index) => `shared-${index}`);
    const bodies = await Promise.all(
      [{}, { stream: true }, { max_tokens: 7 }].map((asked) => createKeyedCall(chat, { caller, asked })),
    );
    const sendOne = async (): Promise<{ key: string; answer: KeyedAnswer | null }> => {
      const key = random.pick(keys) ?? "";
      const call = random.pick(bodies) as KeyedCall;
      const node = random.below(2) === 0 ? chat.gateway : other;
      if (random.below(5) > 0) return { key, answer: await call.send({ key, node }) };
      const stream = await readRawStream(node, { caller, question: call.question, key });
      stream.hangUp();
      return { key, answer: null };
    };
    const sent = await Promise.all(Array.from({ length: 200 }, sendOne));
    await waitUntil("the end of every call", async () => {
      const rows = await listKeys(chat.gateway, caller);
      return rows.every(({ state }) => state === "finished");
    });
    await caller.settled();
    const outcomes = new Set(sent.flatMap(({ answer }) => (answer === null ? [] : [answer.code ?? "answered"])));
    expect([...outcomes].sort()).toEqual(["answered", "idempotency_in_progress", "idempotency_key_reused"]);
    const used = await listKeys(chat.gateway, caller);
    for (const { key, body } of used) {
      const texts = sent
        .filter((one) => one.key === key && one.answer?.status === 200)
        .map(({ answer }) => answer?.text);
      expect(new Set([...texts, body]), key).toEqual(new Set([body]));
    }
    expect(bodies.flatMap(({ calls }) => calls())).toHaveLength(used.length);
    expect(await caller.listCharges()).toHaveLength(used.length);
  });
});

describe("a gateway that shuts down while a call with a key runs", () => {
  const moments = [
    { moment: "before a whole answer", asked: {}, pieces: 0, isKept: false },
    { moment: "before the first data of a stream", asked: { stream: true }, pieces: 0, isKept: false },
    { moment: "in the middle of a stream", asked: { stream: true }, pieces: 2, isKept: true },
  ];

  test.each(moments)("$moment, stores or frees its key, and leaves no hold", async ({ asked, pieces, isKept }) => {
    const call = await createKeyedCall(chat, { asked });
    const gate = chat.upstream.gate();
    const hold = pieces === 0 ? { beforeHead: gate } : { beforePiece: gate };
    call.script({ ...hold, pieces: ["abcd", "efgh", "ijkl", "mnop"] });
    const stopping = await startNode({ settings: { shutdown_timeout_ms: 20 } });
    const stream = await readRawStream(stopping, call);
    await gate.reached();
    gate.release(pieces);
    if (pieces > 0) await stream.received("efgh");
    await stopping[Symbol.asyncDispose]();
    await stream.ended();

    await call.caller.settled();
    const kept = await listKeys(chat.gateway, call.caller);
    expect(kept.map(({ state }) => state)).toEqual(isKept ? ["finished"] : []);
    await waitUntil("the upstream to be left", () => call.calls()[0]?.outcome === "aborted");
    gate.open();
    const again = await call.send();
    expect([again.status, again.isReplay]).toEqual([200, isKept]);
    if (isKept) expect(again.text).toMatch(/efgh.*"code":"shutting_down"/s);
    expect(call.calls()).toHaveLength(isKept ? 1 : 2);
    expect(await call.caller.listCharges()).toHaveLength(1);
    expect(await call.caller.readBalance()).toMatchObject({ frozen: "0.00" });
  });
});

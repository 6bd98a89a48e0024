// @module-tag extended
import { describe, expect, test } from "vitest";
import { type ChatCaller, type ChatGateway, openChatGateway } from "../../harness/chat/chat-gateway.ts";
import { externalBinaries } from "../../harness/servers/external-postgres.ts";
import { type PostgresPair, startPostgresPair } from "../../harness/servers/postgres-pair.ts";
import { waitUntil } from "../../harness/wait-until.ts";

// The promise is 10 s after the promotion; a busy machine needs longer.
const backMsMax = 30_000;
const testMsMax = 90_000;
const callersAtOnce = 4;

type Answer = { status: number; text: string; isReplay: boolean };

function openOnBoth(url: string): Promise<ChatGateway> {
  return openChatGateway({ sharedDatabase: { url, close: async () => {} } });
}

/** One call per key: sent again, it is the same call. */
async function send(caller: ChatCaller, key: string): Promise<Answer> {
  const body = { model: "open", messages: [{ role: "user", content: key }] };
  const response = await caller.post(body, { headers: { "idempotency-key": key } });
  return {
    status: response.status,
    text: await response.text(),
    isReplay: response.headers.has("idempotent-replayed"),
  };
}

/** Retries the call until it is answered. Until then, only retryable errors are allowed. */
async function insist(caller: ChatCaller, key: string): Promise<Answer> {
  return await waitUntil(
    `an answer to ${key}`,
    async () => {
      const answer = await send(caller, key);
      expect([200, 409, 503]).toContain(answer.status);
      return answer.status === 200 ? answer : null;
    },
    backMsMax,
  );
}

/** Keeps several calls running at once until it is stopped. */
function startLoad(caller: ChatCaller) {
  const answers = new Map<string, Answer>();
  let isStopped = false;
  const work = async (worker: number): Promise<void> => {
    for (let number = 0; !isStopped; number += 1) {
      const key = `load-${worker}-${number}`;
      answers.set(key, await send(caller, key));
    }
  };
  const working = Promise.all(Array.from({ length: callersAtOnce }, (_, worker) => work(worker)));
  const countAnswered = (): number => [...answers.values()].filter(({ status }) => status === 200).length;
  const stop = async (): Promise<ReadonlyMap<string, Answer>> => {
    isStopped = true;
    await working;
    return answers;
  };
  return {
    untilMoreAnswered(count: number): Promise<unknown> {
      const goal = countAnswered() + count;
      return waitUntil(`${count} more answers`, () => countAnswered() >= goal, backMsMax);
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

describe.skipIf(externalBinaries === null)("when the primary dies and its standby is promoted", () => {
  test("synchronous replication has every answered call, once, and the old primary is not used again", {
    timeout: testMsMax,
  }, async () => {
    await using pair = await startPostgresPair(externalBinaries ?? "", "synchronous");
    await using chat = await openOnBoth(pair.presentUrl("primary"));
    const caller = await chat.createCaller({ cash: "10000" });
    await using load = startLoad(caller);
    await load.untilMoreAnswered(20);
    await pair.killPrimary();
    await pair.promoteStandby();
    await load.untilMoreAnswered(20);
    // Move the test's own connections as well: the first to connect later would take the old server for the primary.
    await caller.listCharges();
    // Unfenced, and still configured as the primary.
    await pair.restartPrimary();
    await load.untilMoreAnswered(20);
    const answers = await load.stop();

    for (const [key, { status, text }] of answers) {
      expect([200, 503]).toContain(status);
      if (status === 200) expect(await send(caller, key)).toEqual({ status, text, isReplay: true });
      else await insist(caller, key);
    }
    await caller.settled();
    expect(await caller.listCharges()).toHaveLength(answers.size);
    expect(await countCharges(pair, "standby")).toBe(answers.size);
    expect(await countCharges(pair, "primary")).toBeLessThan(answers.size - 20);
  });

  test("asynchronous replication may lack the last calls: unpaid, unknown, and nothing is wrong or twice", {
    timeout: testMsMax,
  }, async () => {
    await using pair = await startPostgresPair(externalBinaries ?? "", "asynchronous");
    await using chat = await openOnBoth(pair.presentUrl("standby"));
    const caller = await chat.createCaller();
    const kept = await send(caller, "kept");
    await caller.settled();
    const before = await caller.readBalance();
    await untilReplayed(pair);
    await pair.gate.close();
    const lost = await send(caller, "lost");
    expect([kept.status, lost.status]).toEqual([200, 200]);
    await caller.settled();
    expect(await caller.listCharges()).toHaveLength(2);
    await pair.killPrimary();
    expect((await send(caller, "meanwhile")).status).toBe(503);
    await pair.promoteStandby();

    expect(await insist(caller, "kept")).toEqual({ ...kept, isReplay: true });
    expect(await caller.listCharges()).toHaveLength(1);
    expect(await caller.readBalance()).toEqual(before);
    expect((await send(caller, "lost")).isReplay).toBe(false);
    await caller.settled();
    expect(await caller.listCharges()).toHaveLength(2);
  });
});

async function countCharges(pair: PostgresPair, which: "primary" | "standby"): Promise<number> {
  const [row] = await pair.query<{ count: number }>(which, "select count(*)::integer as count from charges");
  return row?.count ?? 0;
}

async function untilReplayed(pair: PostgresPair): Promise<void> {
  const [row] = await pair.query<{ position: string }>("primary", "select pg_current_wal_lsn()::text as position");
  const statement = `select pg_last_wal_replay_lsn() >= '${row?.position}'::pg_lsn as is_there`;
  const isThere = async () => (await pair.query<{ is_there: boolean }>("standby", statement))[0]?.is_there === true;
  await waitUntil("the standby to have it all", isThere);
}

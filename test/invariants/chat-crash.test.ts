import { expect, test } from "vitest";
import { findViolations, sweepLedger } from "../../src/features/ledger/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { type CrashPlace, type Customer, openCrashPlace } from "../harness/chat/crash-place.ts";
import { countRuns } from "../harness/count-runs.ts";
import { createRandom, type Random } from "../harness/ledger/ledger-load.ts";
import { listCharges, listHolds } from "../harness/ledger/read-chat-ledger.ts";
import { testSeed } from "../harness/test-seed.ts";
import { createDelay } from "../harness/upstreams/gate.ts";
import { waitUntil } from "../harness/wait-until.ts";

const cycles = Number(process.env.CRASH_CYCLES ?? countRuns(3, 2));
const callersCount = 24;
const patienceMs = 60_000;
/** Longer than any hold lasts. */
const holdsEndMs = 60 * 60_000;
const models = ["open", "anthropic", "google"] as const;

test("a gateway that is killed during its calls charges answered calls, once, and nothing else", {
  timeout: 240_000 + cycles * 20_000,
}, async () => {
  const random = createRandom(testSeed);
  await using place = await openCrashPlace();
  place.upstream.always({ beforePiece: createDelay(3) });
  const load = createLoad(place, random);
  let sentAgain = 0;
  let running = 0;
  try {
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const calling = load.start();
      const enough = load.countComplete() + 20 + random.below(150);
      await waitUntil("some answers", () => load.countComplete() >= enough, patienceMs);
      await place.kill();
      load.stop();
      await calling;
      await place.restart();
      const unfinished = load.listUnfinished();
      sentAgain += unfinished.length;
      running += await expectRunningClaimsToHold(place, load, unfinished);
      await place.endLeases();
      await Promise.all(unfinished.map((call) => load.insist(call)));
      await checkCharges(place, load);
    }
  } finally {
    const { complete, lost } = load.count();
    console.log(
      `chat crashes: ${cycles} kills, ${load.calls.length} calls, ${complete} answered, ${lost} lost, ` +
        `${sentAgain} sent again with their keys, ${running} of these found claimed by the dead, ${place.upstream.requests.length} calls at the upstream; seed ${testSeed}`,
    );
  }
  await checkOpenHolds(place, load);
  // Otherwise the kill hit no running call.
  expect(running).toBeGreaterThan(0);
  expect(place.upstream.refusals()).toEqual([]);
});

type Call = {
  customer: Customer;
  idempotencyKey: string | null;
  body: string;
  /** The answer's content, once it is complete. */
  answer: { requestId: string; charge: string } | null;
};

type Load = {
  calls: Call[];
  countComplete(): number;
  count(): { complete: number; lost: number };
  /** Lets callers work until they are stopped, or the gateway is dead. */
  start(): Promise<void>;
  stop(): void;
  /** The calls with a key that have not been answered. */
  listUnfinished(): Call[];
  /** Sends a call once; returns its status, or 0 without a complete answer. */
  send(call: Call): Promise<number>;
  /** Retries a call until it is answered. */
  insist(call: Call): Promise<void>;
};

function createLoad(place: CrashPlace, random: Random): Load {
  const calls: Call[] = [];
  let isOver = false;
  const isComplete = ({ answer }: Call): boolean => answer !== null;

  function create(): Call {
    const customer = random.pick(place.customers) as Customer;
    const content = `Call ${calls.length} of ${customer.accountId}`;
    const isStreamed = random.below(2) === 0;
    const call: Call = {
      customer,
      idempotencyKey: customer.isKeyed ? `key-${calls.length}` : null,
      body: JSON.stringify({
        model: random.pick(models),
        messages: [{ role: "user", content }],
        ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
      }),
      answer: null,
    };
    calls.push(call);
    return call;
  }

  async function send(call: Call): Promise<number> {
    try {
      const { status, text } = await post(`${place.baseUrl}/chat/completions`, call);
      if (status === 200) call.answer = readAnswer(text);
      return status === 200 && call.answer === null ? 0 : status;
    } catch {
      // The gateway was killed; callers with a key retry.
      return 0;
    }
  }

  async function work(): Promise<void> {
    while (!isOver) {
      const status = await send(create());
      expect([200, 0]).toContain(status);
      if (status === 0) return;
    }
  }

  return {
    calls,
    countComplete: () => calls.filter(isComplete).length,
    count() {
      const complete = calls.filter(isComplete).length;
      return { complete, lost: calls.length - complete };
    },
    async start() {
      isOver = false;
      await Promise.all(Array.from({ length: callersCount }, work));
    },
    stop() {
      isOver = true;
    },
    listUnfinished: () => calls.filter((call) => call.idempotencyKey !== null && !isComplete(call)),
    send,
    insist: async (call) => void (await waitUntil("an answer", async () => (await send(call)) === 200, patienceMs)),
  };
}

async function post(url: string, { customer, idempotencyKey, body }: Call): Promise<{ status: number; text: string }> {
  const headers = {
    authorization: `Bearer ${customer.key}`,
    "content-type": "application/json",
    ...(idempotencyKey === null ? {} : { "idempotency-key": idempotencyKey }),
  };
  const response = await fetch(url, { method: "POST", body, headers });
  return { status: response.status, text: await response.text() };
}

/** The answer's request id and its stated cost; `null` if it is incomplete. */
function readAnswer(text: string): Call["answer"] {
  const isWhole = text.endsWith("}") || text.endsWith("data: [DONE]\n\n");
  const id = /"id":"chatcmpl-([^"]+)"/.exec(text)?.[1];
  const charge = /"charge":"([^"]+)"/.exec(text)?.[1];
  return isWhole && id !== undefined && charge !== undefined ? { requestId: `req_${id}`, charge } : null;
}

/**
 * Checks that keys of a possibly live process are not claimed, and that calls that ended before the kill are answered.
 * Counts the former.
 */
async function expectRunningClaimsToHold(place: CrashPlace, load: Load, unfinished: readonly Call[]): Promise<number> {
  const rows = await place.database().selectFrom("idempotency_keys").select(["key", "state"]).execute();
  const states = new Map(rows.map(({ key, state }) => [key, state]));
  let running = 0;
  for (const call of unfinished) {
    const state = states.get(call.idempotencyKey ?? "");
    if (state === undefined) continue;
    expect(await load.send(call), call.idempotencyKey ?? "").toBe(state === "running" ? 409 : 200);
    if (state === "running") running += 1;
  }
  return running;
}

async function checkCharges(place: CrashPlace, { calls }: Load): Promise<void> {
  const database = place.database();
  expect(await findViolations(database, { kind: "whole", accountIds: "all", now: systemClock.now() })).toEqual([]);
  for (const customer of place.customers) {
    const own = calls.filter((call) => call.customer === customer);
    const charges = await listCharges(database, customer.accountId);
    const holds = await listHolds(database, customer.accountId);
    const settled = new Map(holds.filter(({ state }) => state === "settled").map((hold) => [hold.causeId, hold]));
    const told = own.flatMap(({ answer }) => answer ?? []);
    expect(told.map(({ requestId }) => [requestId, settled.get(requestId)?.settled])).toEqual(
      told.map(({ requestId, charge }) => [requestId, charge]),
    );
    // Every request has one hold, and every settled hold has one charge.
    expect(new Set(holds.map(({ causeId }) => causeId)).size).toBe(holds.length);
    expect(charges.map(({ holdId }) => holdId).sort()).toEqual([...settled.values()].map(({ id }) => id).sort());
    const asked = place.upstream.requests.filter(({ ask }) => ask?.prompt.endsWith(customer.accountId)).length;
    expect(charges.length).toBeLessThanOrEqual(asked);
    // Every call with a key has been answered by now, once per key. Without a key, lost calls may have been charged.
    if (customer.isKeyed) expect(charges).toHaveLength(own.length);
    else expect(charges.length).toBeLessThanOrEqual(own.length);
  }
}

/** The dead process leaves at most the holds of lost calls, which expire. */
async function checkOpenHolds(place: CrashPlace, load: Load): Promise<void> {
  const database = place.database();
  const listOpen = () => database.selectFrom("holds").select("id").where("state", "=", "open").execute();
  const open = await listOpen();
  expect(open.length).toBeLessThanOrEqual(load.count().lost);
  const later = new Date(systemClock.now().getTime() + holdsEndMs);
  const clock = { ...systemClock, now: () => later };
  const troubles: unknown[] = [];
  const { swept } = await sweepLedger({ database, clock, onTrouble: (_operation, error) => troubles.push(error) });
  expect([swept, troubles, await listOpen()]).toEqual([open.length, [], []]);
  expect(await findViolations(database, { kind: "whole", accountIds: "all", now: later })).toEqual([]);
  for (const { accountId } of place.customers) {
    const holds = await listHolds(database, accountId);
    expect(new Set(holds.map(({ state }) => state)).isSubsetOf(new Set(["settled", "released", "expired"]))).toBe(true);
  }
}

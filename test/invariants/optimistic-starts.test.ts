import { setImmediate as turnLoop } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Authorization } from "../../src/features/calls/authorize-call.ts";
import type { CallTerms } from "../../src/features/calls/paid-endpoint.ts";
import type { Claims } from "../../src/features/idempotency/index.ts";
import { openHold } from "../../src/features/ledger/apply-within.ts";
import { createLedger } from "../../src/features/ledger/create-ledger.ts";
import type { Failpoint } from "../../src/features/ledger/decide-within.ts";
import type { Ledger } from "../../src/features/ledger/index.ts";
import { findViolations } from "../../src/features/ledger/verify-ledger.ts";
import type { KeyBudget } from "../../src/lib/budget.ts";
import type { Caller } from "../../src/lib/caller.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { nano } from "../../src/lib/money.ts";
import { createDatabase, type Database } from "../../src/platform/database/database.ts";
import { AppError } from "../../src/platform/errors/app-error.ts";
import { countRuns } from "../harness/count-runs.ts";
import { createRandom } from "../harness/ledger/ledger-load.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";
import { testSeed } from "../harness/test-seed.ts";
import { waitUntil } from "../harness/wait-until.ts";

/** Set OPTIMISTIC_RUNS for more. */
const runs = Number(process.env.OPTIMISTIC_RUNS ?? countRuns(200));
const timeoutMs = 120_000 + runs * 500;
const random = createRandom(testSeed);

/** A separate ledger on the shared database, as in each process of a gateway. */
type Node = { ledger: Ledger; database: Database; money: ConstructorParameters<typeof Authorization>[0] };

let place: TestLedger;
let nodes: Node[] = [];
beforeAll(async () => {
  place = await openTestLedger();
  nodes = [openNode(), openNode(), openNode()];
});
afterAll(async () => {
  for (const { ledger, database } of nodes) {
    await ledger.close();
    await database.destroy();
  }
  await place[Symbol.asyncDispose]();
});

function openNode(failpoint?: Failpoint): Node {
  const address = { connectionString: place.url };
  const database = createDatabase({ address, connectionsMax: 4, onConnectionError: () => {} });
  const ledger = createLedger({
    database,
    address,
    clock: systemClock,
    onTrouble: () => {},
    ...(failpoint && { failpoint }),
  });
  const claims = {} as Claims;
  const { ids } = place.parts;
  const money = { ledger, claims, clock: systemClock, ids, currency: "USD" };
  return { ledger, database, money };
}

function createTerms(price: bigint): CallTerms {
  return {
    ...{ isFree: false, isMetered: false, unitsMax: 1, unitsUsual: 1, holdMs: 60_000, priceId: "price_test" },
    quota: { kind: "text", units: price },
    price: (units: number) => nano(price * BigInt(units)),
    countAffordable: (amount: bigint) => (amount >= price ? 1 : 0),
  };
}

function createCaller(accountId: AccountId, budget: KeyBudget | null): Caller {
  return { accountId, keyId: accountId.replace("acct", "key"), budget } as unknown as Caller;
}

function isRefusal(error: unknown): boolean {
  return (
    error instanceof AppError && ["insufficient_balance", "key_budget_exceeded", "overloaded"].includes(error.code)
  );
}

type Tally = { used: bigint; started: number; early: number; refused: number };

/**
 * One call as `run-call.ts` makes it: the upstream starts before the hold is durable if that is allowed, otherwise
 * after it.
 */
async function call(node: Node, caller: Caller, price: bigint, tally: Tally): Promise<void> {
  const meter = { written: () => 0, writtenMax: () => 0 };
  const requestId = place.parts.ids.next("req");
  const authorization = new Authorization(node.money, { caller, requestId, terms: createTerms(price), meter });
  const isEarly = authorization.canAuthorizeOptimistically();
  if (isEarly) {
    tally.used += price;
    tally.early += 1;
    await turn(3);
  }
  try {
    await authorization.open();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    tally.refused += 1;
    return;
  }
  if (!isEarly) tally.used += price;
  tally.started += 1;
  await turn(5);
  const { charge } = await authorization.settle(createBill(price), null);
  expect(charge).toBe(price);
}

/** A task's hold, in a transaction beside the group commit. */
async function submitTask(node: Node, accountId: AccountId, amount: bigint, tally: Tally): Promise<void> {
  const { ids } = place.parts;
  const now = systemClock.now();
  const request = {
    ...{ id: ids.next("hold"), accountId, amount: nano(amount), quota: null, budget: null },
    cause: { kind: "task", id: ids.next("task") } as const,
    expiresAt: new Date(now.getTime() + 60_000),
  };
  const result = await node.database.transaction().execute((tx) => openHold(tx, request, now));
  if (result.kind === "held") tally.used += amount;
}

function createBill(cost: bigint) {
  const items = [{ name: "output_tokens", quantity: cost, rate: nano(1n) }];
  return { priceId: "price_test", items, per: 1n, minimum: nano(0n), quotaUnits: cost };
}

async function turn(max: number): Promise<void> {
  for (let left = random.below(max + 1); left > 0; left -= 1) await turnLoop();
}

async function runOnce(nodeCount: number): Promise<Tally> {
  const price = BigInt(10 + random.below(90));
  const balance = price * BigInt(1 + random.below(60)) + BigInt(random.below(50));
  const accountId = await place.createAccount(balance);
  const budget =
    random.below(3) === 0
      ? ({
          keyId: accountId.replace("acct", "key"),
          amount: nano(price * BigInt(random.below(40))),
          period: "total",
        } as const)
      : null;
  const tally = { used: 0n, started: 0, early: 0, refused: 0 };
  const caller = createCaller(accountId, budget);
  const used = nodes.slice(0, nodeCount);
  const callers = Array.from({ length: 16 }, async () => {
    for (let step = 0; step < 4; step += 1) {
      const node = random.pick(used) as Node;
      await turn(4);
      if (random.below(12) === 0) await submitTask(node, accountId, price * BigInt(1 + random.below(4)), tally);
      else await call(node, caller, price, tally);
    }
  });
  await Promise.all(callers);
  expect(tally.used, `seed ${testSeed}, ${nodeCount} nodes`).toBeLessThanOrEqual(balance);
  return tally;
}

test.each([1, 2, 3])(
  "concurrent calls on %i ledgers of one database use no more of upstreams than the balance",
  async (nodeCount) => {
    const sum = { started: 0, early: 0, refused: 0 };
    for (let run = 0; run < runs / 3; run += 1) {
      const { started, early, refused } = await runOnce(nodeCount);
      sum.started += started;
      sum.early += early;
      sum.refused += refused;
    }
    console.log(`optimistic starts: seed ${testSeed}, ${nodeCount} ledgers: ${JSON.stringify(sum)}`);
    // Otherwise this would show nothing.
    expect(sum.early).toBeGreaterThan(sum.started / 20);
    expect(sum.refused).toBeGreaterThan(0);
    expect(await findViolations(place.database, { kind: "whole", accountIds: "all", now: new Date() })).toEqual([]);
  },
  timeoutMs,
);

test("a hold that only another process's reserve prevents waits until the reserve is released, and is not refused", async () => {
  const [first, second] = nodes as [Node, Node];
  const accountId = await place.createAccount(1000n);
  const expiresAt = new Date(Date.now() + 60_000);
  expect(first.ledger.beginEarly(accountId, nano(10n))).toBe(false);
  await first.ledger.apply(place.hold(accountId, 10n, { expiresAt }));
  // A quarter of 990 is reserved, and the call that starts by it keeps its part.
  expect(first.ledger.beginEarly(accountId, nano(10n))).toBe(true);
  const large = second.ledger.apply(place.hold(accountId, 980n, { expiresAt }));
  expect(await first.ledger.apply(place.hold(accountId, 10n, { expiresAt, early: nano(10n) }))).toMatchObject({
    kind: "held",
  });
  first.ledger.endEarly(accountId, nano(10n));
  expect(await large).toMatchObject({ kind: "held", amount: 980n });
  expect(await second.ledger.apply(place.hold(accountId, 1n, { expiresAt }))).toMatchObject({ kind: "refused" });
}, 60_000);

test("a call that starts while a hold is being written keeps its money, though another process has taken its share", async () => {
  const other = nodes[0] as Node;
  let begin = (): void => {};
  const node = openNode((point) => {
    if (point === "decided") begin();
  });
  onTestFinished(async () => {
    await node.ledger.close();
    await node.database.destroy();
  });
  const accountId = await place.createAccount(1000n);
  const expiresAt = new Date(Date.now() + 60_000);
  node.ledger.beginEarly(accountId, nano(10n));
  await node.ledger.apply(place.hold(accountId, 10n, { expiresAt }));
  // The node has reserved 247 of 990. The other process leaves exactly that, unknown to the node's cache.
  expect(await other.ledger.apply(place.hold(accountId, 743n, { expiresAt }))).toMatchObject({ kind: "held" });
  let hasBegun = false;
  begin = () => {
    hasBegun ||= node.ledger.beginEarly(accountId, nano(200n));
  };
  const large = node.ledger.apply(place.hold(accountId, 240n, { expiresAt }));
  await waitUntil("the call begins", () => hasBegun);
  const early = await node.ledger.apply(place.hold(accountId, 200n, { expiresAt, early: nano(200n) }));
  node.ledger.endEarly(accountId, nano(200n));
  expect(early).toMatchObject({ kind: "held" });
  expect(await large).toMatchObject({ kind: "refused" });
}, 60_000);

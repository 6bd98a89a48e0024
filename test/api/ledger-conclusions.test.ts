import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Claim, type Claims, createClaims, type KeptAnswer } from "../../src/features/idempotency/index.ts";
import {
  type ConclusionOf,
  type ReleaseOperation,
  readBalance,
  type SettleOperation,
  withdrawCharge,
} from "../../src/features/ledger/index.ts";
import type { HoldOperation } from "../../src/features/ledger/operation.ts";
import type { AccountId } from "../../src/lib/ids.ts";
import { listCharges, listHolds } from "../harness/ledger/read-chat-ledger.ts";
import { openTestLedger, type TestLedger } from "../harness/ledger/test-ledger.ts";

const leaseMs = 60_000;
const fingerprint = Buffer.alloc(32, 7);

let opened: TestLedger;
let claims: Claims;
let accountId: AccountId;
beforeAll(async () => {
  opened = await openTestLedger();
  const { database, clock } = opened;
  claims = createClaims({ database, clock, validityMs: 3_600_000, releaseHold: async () => {} });
  accountId = await opened.createAccount(1_000_000n);
});
afterAll(() => opened[Symbol.asyncDispose]());

async function claim(key: string): Promise<Claim & { hold: HoldOperation }> {
  const hold = opened.hold(accountId, 100n);
  const wanted = { accountId, key, requestId: opened.parts.ids.next("req"), fingerprint, holdId: hold.id };
  expect(await claims.claim(wanted)).toMatchObject({ kind: "claimed" });
  await opened.ledger.apply(hold);
  return { ...wanted, hold };
}

/** The outcome for another request with the key: a response, or `null` when it may run. */
function look({ key }: Claim): Promise<KeptAnswer | null> {
  return claims.recall({ accountId, key, fingerprint });
}

function createAnswer(body: Buffer | null): KeptAnswer {
  return { status: 200, contentType: "application/json", body, summary: 'It cost "0.14".' };
}

function keep(held: Claim, body: Buffer | null): ConclusionOf<SettleOperation> {
  return { claim: held, bytes: 100, describe: ({ kind }) => (kind === "settled" ? createAnswer(body) : undefined) };
}

test.each([
  ["a response is stored with its charge", Buffer.from('Hello, 世界 "(\\,)"')],
  ["bytes are stored unchanged", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
  ["an empty response is stored", Buffer.alloc(0)],
  ["an oversized response is stored without its body", null],
])("%s", async (name, body) => {
  const held = await claim(`${name.replaceAll(" ", "-")}-'"\\,(){}`);
  const settled = await opened.ledger.apply(opened.settle(accountId, held.hold.id, 14n), keep(held, body));
  expect(settled).toMatchObject({ kind: "settled", paid: 14n });
  expect(await look(held)).toEqual(createAnswer(body));
});

test("hundreds of concurrent claims and ends stay separate, and a released key can be claimed again", async () => {
  const keys = Array.from({ length: 300 }, (_, index) => `crowd-${index}`);
  const held = await Promise.all(keys.map(claim));
  await Promise.all(
    held.map((one, index) =>
      index % 3 === 0
        ? opened.ledger.apply<ReleaseOperation>(
            { kind: "release", accountId, holdId: one.hold.id },
            { claim: one, bytes: 0, describe: () => null },
          )
        : opened.ledger.apply(opened.settle(accountId, one.hold.id, 1n), keep(one, Buffer.from(one.key))),
    ),
  );
  const found = await Promise.all(held.map(look));
  expect(found.map((answer) => answer?.body?.toString() ?? null)).toEqual(
    keys.map((key, index) => (index % 3 === 0 ? null : key)),
  );
  await claim("crowd-0");
});

test("one of many concurrent claims of a key wins", async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, () =>
      claims.claim({ accountId, key: "one", requestId: opened.parts.ids.next("req"), fingerprint, holdId: null }),
    ),
  );
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "idempotency_in_progress" });
});

test("a call that lost its key charges nothing, and the rest of its batch is charged and stored", async () => {
  const lost = await claim("lost");
  opened.clock.advance(leaseMs);
  const neighbours = await Promise.all(Array.from({ length: 5 }, (_, index) => claim(`neighbour-${index}`)));
  const taker = { accountId, key: "lost", requestId: opened.parts.ids.next("req"), fingerprint, holdId: null };
  expect(await claims.claim(taker)).toMatchObject({ kind: "claimed" });
  const settle = (held: Claim & { hold: HoldOperation }) =>
    opened.ledger.apply(opened.settle(accountId, held.hold.id, 14n), keep(held, Buffer.from("Hello")));
  const outcomes = await Promise.allSettled([lost, ...neighbours].map(settle));
  expect(outcomes[0]).toMatchObject({ status: "rejected", reason: { code: "idempotency_in_progress" } });
  for (const outcome of outcomes.slice(1)) expect(outcome).toMatchObject({ value: { kind: "settled", paid: 14n } });
  for (const neighbour of neighbours) expect(await look(neighbour)).toEqual(createAnswer(Buffer.from("Hello")));
  await expect(look(lost)).rejects.toMatchObject({ code: "idempotency_in_progress" });
  const holds = await listHolds(opened.database, accountId);
  expect(holds.find(({ id }) => id === lost.hold.id)).toMatchObject({ state: "open" });
});

test("a settlement sent again after a lost response has no second effect", async () => {
  const held = await claim("again");
  const settle = opened.settle(accountId, held.hold.id, 14n);
  await opened.ledger.apply(settle, keep(held, Buffer.from("Hello")));
  const count = (await listCharges(opened.database, accountId)).length;
  const again = await opened.ledger.apply(settle, keep(held, Buffer.from("Hello")));
  expect(again).toMatchObject({ kind: "settled", paid: 14n, isReplay: true });
  expect(await listCharges(opened.database, accountId)).toHaveLength(count);
  expect(await look(held)).toEqual(createAnswer(Buffer.from("Hello")));
});

test("a response that cannot be charged is not stored either", async () => {
  const held = await claim("uncharged");
  await opened.ledger.apply({ kind: "release", accountId, holdId: held.hold.id });
  const refused = await opened.ledger.apply(opened.settle(accountId, held.hold.id, 14n), keep(held, Buffer.from("Hi")));
  expect(refused).toEqual({ kind: "already-resolved", state: "released" });
  await expect(look(held)).rejects.toMatchObject({ code: "idempotency_in_progress" });
});

describe("a charge that is withdrawn after a lost response", () => {
  async function withdraw(write: "nothing" | "hold" | "hold and settlement" | "release") {
    const account = await opened.createAccount(1_000n);
    const hold = opened.hold(account, 100n);
    const settlement = opened.settle(account, hold.id, 14n);
    if (write !== "nothing") await opened.ledger.apply(hold);
    if (write === "hold and settlement") await opened.ledger.apply(settlement);
    if (write === "release") await opened.ledger.apply({ kind: "release", accountId: account, holdId: hold.id });
    const doubtful = { hold, settlement, refundId: opened.parts.ids.next("txn") };
    const outcomes = [];
    for (let time = 0; time < 2; time += 1) outcomes.push(await withdrawCharge(opened.ledger.apply, doubtful));
    const { balance } = await readBalance(opened.database, account, opened.clock.now());
    expect(balance).toMatchObject({ available: 1_000n, frozen: 0n });
    // The delayed write arrives too late.
    await opened.ledger.apply(hold);
    const late = await opened.ledger.apply(settlement);
    expect(late.kind === "settled" ? late.isReplay : late.kind).not.toBe(false);
    expect((await readBalance(opened.database, account, opened.clock.now())).balance.available).toBe(1_000n);
    return outcomes;
  }

  test.each(["nothing", "hold", "release"] as const)("costs nothing where %s was written", async (write) => {
    expect(await withdraw(write)).toEqual(["uncharged", "uncharged"]);
  });

  test("is refunded once where it was written", async () => {
    expect(await withdraw("hold and settlement")).toEqual(["refunded", "refunded"]);
  });
});

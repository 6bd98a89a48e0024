import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openUsageStage, toAmount, type UsageCaller, type UsageStage } from "../harness/ledger/usage-stage.ts";

type Fields = Record<string, unknown>;
type Page = { data: (Fields & { id: string })[]; has_more: boolean; next_cursor: string | null };

let stage: UsageStage;
let caller: UsageCaller;
beforeAll(async () => {
  stage = await openUsageStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  stage.setTime("2026-11-15T12:00:00Z");
  caller = await stage.gateway.createCaller();
});

function topUp(amount: string): Promise<string> {
  return stage.book(caller.accountId, { kind: "top-up", amount: toAmount(amount) });
}

function explain(id: string): Promise<Fields> {
  return stage.read(`/charges/${id}`, caller.key);
}

describe("a charge is explained", () => {
  test("with its price, its quantities, its hold and its origin", async () => {
    await topUp("10");
    const expiresAt = new Date("2026-12-01T00:00:00Z");
    await stage.book(caller.accountId, { kind: "grant", unit: "money", amount: toAmount("0.01"), expiresAt });
    const items = { input_tokens: 1234n, cached_input_tokens: 1n, output_tokens: 0n };
    const id = await stage.charge({ ...caller, items, rate: "0.000000003", minimum: "0.25", held: "0.75" });
    expect(await explain(id)).toEqual({
      object: "charge",
      id,
      created: Date.parse("2026-11-15T12:00:00Z") / 1000,
      model: "small",
      key_id: caller.keyId,
      capability: null,
      cause: { kind: "request", id: `req_${id.slice(4)}` },
      task_id: null,
      request_id: `req_${id.slice(4)}`,
      charge: "0.25",
      unit: "money",
      quota_units: 0,
      summary: "1,234 input tokens, 1 cached input token",
      price: {
        id: expect.stringMatching(/^price_/),
        model: "small",
        billing_type: "token",
        unit: "1K tokens",
        input_price: "0.10",
        output_price: "0.20",
        effective_at: expect.stringMatching(/^2026-/),
        is_current: true,
      },
      items: [
        { name: "input_tokens", quantity: 1234, rate: "0.000000003", per: 1000, amount: "0.000000003702" },
        { name: "cached_input_tokens", quantity: 1, rate: "0.000000003", per: 1000, amount: "0.000000000003" },
        { name: "output_tokens", quantity: 0, rate: "0.000000003", per: 1000, amount: "0.00" },
      ],
      minimum_charge: "0.25",
      cost: "0.25",
      lost: "0.00",
      buckets: [
        { kind: "gift", amount: "0.01", expires_at: "2026-12-01T00:00:00.000Z" },
        { kind: "cash", amount: "0.24", expires_at: null },
      ],
      held: "0.75",
      balance_after: "9.76",
      refunds: [],
    });
  });

  test("with the part that the operator bore, when the balance did not cover it", async () => {
    await topUp("1");
    const id = await stage.charge({ ...caller, items: { images: 3n }, rate: "0.50", per: 1n });
    expect(await explain(id)).toMatchObject({
      ...{ charge: "1.00", cost: "1.50", lost: "0.50", held: "1.00", balance_after: "0.00" },
      buckets: [{ kind: "cash", amount: "1.00" }],
    });
    // A movement of the account's money contains only the amount it paid.
    const { data } = await stage.read<Page>("/ledger", caller.key);
    expect(data.map(({ kind, amount, balance }) => [kind, amount, balance])).toEqual([
      ["charge", "-1.00", "0.00"],
      ["top_up", "1.00", "1.00"],
    ]);
  });

  test("with later refunds, and the balance right after the charge", async () => {
    await topUp("10");
    const id = await stage.charge({ ...caller, items: { images: 1n }, rate: "0.50", per: 1n });
    stage.setTime("2026-11-16T12:00:00Z");
    const refundId = await stage.book(caller.accountId, {
      ...{ kind: "refund", chargeId: id as `txn_${string}`, amount: toAmount("0.2") },
    });
    const created = Date.parse("2026-11-16T12:00:00Z") / 1000;
    expect(await explain(id)).toMatchObject({
      balance_after: "9.50",
      refunds: [{ id: refundId, created, amount: "0.20" }],
    });
    const { data } = await stage.read<Page>("/ledger?limit=1", caller.key);
    expect(data).toMatchObject([{ kind: "refund", charge_id: id, amount: "0.20", balance: "9.70" }]);
  });

  test("in units of its quota, when the quota paid", async () => {
    await topUp("1");
    await stage.book(caller.accountId, { kind: "grant", unit: "image", amount: 5n, expiresAt: null });
    const quota = { kind: "image", units: 2n } as const;
    const id = await stage.charge({ ...caller, items: { images: 2n }, rate: "0.50", per: 1n, quota });
    expect(await explain(id)).toMatchObject({
      ...{ charge: "0.00", unit: "image", quota_units: 2, cost: "2", lost: "0", held: "2", balance_after: "3" },
      buckets: [{ kind: "quota", amount: "2", expires_at: null }],
    });
  });

  test("with the price of its time, which may differ from the current one", async () => {
    await topUp("10");
    const before = await stage.charge({ ...caller, model: "large" });
    stage.setTime("2026-11-15T13:00:00Z");
    const price = { input_price: "0.30", output_price: "0.40" };
    await stage.applyPrices([
      ...["small", "maker/picture"].map((model) => ({ model, input_price: "0.10", output_price: "0.20" })),
      { model: "large", ...price },
    ]);
    const after = await stage.charge({ ...caller, model: "large" });
    expect((await explain(before)).price).toMatchObject({ input_price: "0.10", is_current: false });
    expect((await explain(after)).price).toMatchObject({ input_price: "0.30", is_current: true });
  });

  test("without a cost moves no money", async () => {
    await topUp("1");
    const id = await stage.charge({ ...caller, items: { output_tokens: 0n } });
    expect(await explain(id)).toMatchObject({
      ...{ charge: "0.00", cost: "0.00", balance_after: null, buckets: [], summary: "nothing" },
    });
  });
});

test("charges are listed newest first, in pages, without duplicates or gaps", async () => {
  await topUp("10");
  const ids: string[] = [];
  // Several at the same time, ordered by their ids only.
  for (const step of [0, 0, 0, 1000, 0, 5000, 0]) {
    stage.clock.advance(step);
    ids.push(await stage.charge({ ...caller, model: ids.length % 2 === 0 ? "small" : "maker/picture" }));
  }
  const seen: string[] = [];
  for (let after = ""; ; ) {
    const page = await stage.read<Page>(`/charges?limit=2${after}`, caller.key);
    seen.push(...page.data.map(({ id }) => id));
    if (page.next_cursor === null) break;
    after = `&after=${page.next_cursor}`;
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
  const { data } = await stage.read<Page>("/charges", caller.key);
  expect(data.map(({ id }) => id)).toEqual(seen);
  expect(new Set(seen.slice(0, 2))).toEqual(new Set(ids.slice(5)));
  const pictures = await stage.read<Page>("/charges?model=maker/picture", caller.key);
  expect(pictures.data.map(({ model }) => model)).toEqual(Array(3).fill("maker/picture"));
  expect((await stage.read<Page>("/charges?model=unknown", caller.key)).data).toEqual([]);
});

test.each([
  ["/charges?after=txn_unknown", "after"],
  ["/charges?after=hello", "after"],
  ["/charges?limit=0", "limit"],
  ["/charges?limit=101", "limit"],
  ["/charges?from=2026-11-02&to=2026-11-01", "to"],
  ["/charges?from=2026-13-01", "from"],
  ["/charges?task_id=hello", "task_id"],
  ["/charges?key_id=x'--", "key_id"],
])("%s is rejected, and the error names %s", async (path, param) => {
  const response = await stage.gateway.get(path, caller.key);
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { code: "invalid_parameter", param } },
  ]);
});

test("a charge of another account does not exist: not by its id, not as a cursor", async () => {
  await topUp("1");
  const id = await stage.charge({ ...caller });
  const stranger = await stage.gateway.createCaller();
  const ask = async (path: string) => {
    const response = await stage.gateway.get(path, stranger.key);
    const { error } = (await response.json()) as { error: Fields };
    return { status: response.status, error };
  };
  const foreign = await ask(`/charges/${id}`);
  expect(foreign).toEqual(await ask("/charges/txn_01kh2n8v7m3q5x9d4c6b8a0e2f"));
  expect(foreign).toMatchObject({ status: 404, error: { code: "not_found" } });
  expect(await ask("/charges/..%2F%00'")).toMatchObject({ status: 404 });
  expect(await ask(`/charges?after=${id}`)).toEqual(await ask("/charges?after=txn_unknown"));
});

test("holds are listed with their purpose until they end", async () => {
  await topUp("10");
  const first = await stage.hold({ ...caller, held: "0.5" });
  stage.clock.advance(1000);
  const second = await stage.hold({ ...caller, held: "2", cause: { kind: "task", id: "task_gone" } });
  const other = await stage.gateway.createCaller();
  const page = await stage.read<Page>("/holds?limit=1", caller.key);
  expect(page).toEqual({
    object: "list",
    data: [
      {
        object: "hold",
        id: second,
        amount: "2.00",
        unit: "money",
        key_id: caller.keyId,
        cause: { kind: "task", id: "task_gone" },
        task_id: "task_gone",
        model: null,
        opened: Date.parse("2026-11-15T12:00:01Z") / 1000,
        expires: Date.parse("2026-11-15T13:00:01Z") / 1000,
      },
    ],
    has_more: true,
    next_cursor: second,
  });
  const rest = await stage.read<Page>(`/holds?after=${page.next_cursor}`, caller.key);
  expect(rest).toMatchObject({ data: [{ id: first, amount: "0.50", task_id: null }], has_more: false });
  expect(await stage.read("/holds", other.key)).toMatchObject({ data: [] });
  await stage.ledger.apply({ kind: "release", accountId: caller.accountId, holdId: second });
  expect((await stage.read<Page>("/holds", caller.key)).data.map(({ id }) => id)).toEqual([first]);
});

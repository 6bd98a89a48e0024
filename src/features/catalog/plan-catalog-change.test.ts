import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogFile, CatalogProblem, PriceLine } from "./catalog-file.ts";
import { type CatalogChange, planCatalogChange } from "./plan-catalog-change.ts";

const now = new Date("2026-06-01T00:00:00Z");
const later = new Date("2026-06-02T00:00:00Z");
const past = "2026-01-01T00:00:00Z";
const future = "2026-12-01T00:00:00Z";
const afterwards = new Date("2027-01-01T00:00:00Z");

type ModelEntry = CatalogFile["models"][number];
const film: ModelEntry = { id: "film", name: "Film", type: "video", capabilities: ["text_to_video"] };
const line: PriceLine = { model: "film", billing_type: "duration", unit: "second", price: "0.5" };

function createFile(...prices: PriceLine[]): CatalogFile {
  return { currency: "USD", providers: [{ id: "main", kind: "sandbox" }], models: [film], prices };
}

/** The ids contain the time of the plan and their position in it. */
function plan(file: CatalogFile, current: Catalog | null = null, at: Date = now) {
  let count = 0;
  const createPriceId = () => `price_${at.toISOString().slice(0, 10)}_${count++}`;
  return planCatalogChange({ file, current, now: at, createPriceId });
}

function requireChange(file: CatalogFile, current: Catalog | null = null, at: Date = now): CatalogChange {
  const planned = plan(file, current, at);
  if (planned.kind === "impossible") throw new Error(JSON.stringify(planned.problems));
  return planned.change;
}

/** The catalog after the file was applied. */
function apply(file: CatalogFile, current: Catalog | null = null, at: Date = now): Catalog {
  return { ...requireChange(file, current, at).next, version: (current?.version ?? 0) + 1, appliedAt: at };
}

function listProblems(file: CatalogFile, current: Catalog | null, at: Date = now): readonly CatalogProblem[] {
  const planned = plan(file, current, at);
  return planned.kind === "impossible" ? planned.problems : [];
}

describe("the first file", () => {
  test("makes all its prices new, from now or from their effective_at", () => {
    const { next, newPrices } = requireChange(createFile(line, { ...line, plan: "pro", effective_at: past }));
    const scope = { modelId: "film", capability: null, planId: null, accountId: null };
    const usual = { ...scope, unit: "second", rates: { second: 500_000_000n } } as const;
    const first = createTestPrice({ ...usual, id: "price_2026-06-01_0", effectiveAt: now });
    const later = { id: "price_2026-06-01_1", planId: "pro", effectiveAt: new Date(past) };
    expect(newPrices).toEqual([first, createTestPrice({ ...usual, ...later })]);
    expect(next).toMatchObject({ currency: "USD", providers: [{ id: "main", kind: "sandbox" }], prices: newPrices });
  });

  test("keeps every field of a price, in nano units", () => {
    const tokens: PriceLine = {
      ...{ model: "film", capability: "text_to_video", account: "acct_1", billing_type: "token", unit: "1K tokens" },
      ...{ input_price: "0.000000001", output_price: "2", cached_input_price: "0.25", minimum_charge: "1.5" },
      ...{ cache_write_5m_price: "1.25", cache_write_1h_price: "2", audio_input_price: "3" },
      ...{ reasoning_price: "4", audio_output_price: "5" },
    };
    const [full, plain] = apply(createFile(tokens, { ...line, billing_type: "per_call", unit: "call" })).prices;
    expect(full).toMatchObject({ capability: "text_to_video", planId: null, accountId: "acct_1" });
    expect(full?.minimumCharge).toBe(1_500_000_000n);
    expect(full?.amounts).toEqual({
      ...{ billingType: "token", per: 1000n, tiers: [], tierScope: "call", fees: [] },
      ...{ inputPrice: 1n, outputPrice: 2_000_000_000n },
      ...{ cachedInputPrice: 250_000_000n, cacheWrite5mPrice: 1_250_000_000n, cacheWrite1hPrice: 2_000_000_000n },
      ...{ audioInputPrice: 3_000_000_000n, reasoningPrice: 4_000_000_000n, audioOutputPrice: 5_000_000_000n },
    });
    expect(plain?.amounts).toMatchObject({ billingType: "per_call", unit: "call", per: 1n, price: 500_000_000n });
  });

  test("distinguishes tokens without their own price from free ones", () => {
    const amounts = { input_price: "1", output_price: "2" };
    const tokens: PriceLine = { model: "film", billing_type: "token", unit: "1K tokens", ...amounts };
    expect(apply(createFile(tokens)).prices[0]?.amounts).toMatchObject({
      ...{ cachedInputPrice: null, cacheWrite5mPrice: null, cacheWrite1hPrice: null, audioInputPrice: null },
      ...{ reasoningPrice: null, audioOutputPrice: null },
    });
  });

  test("throws if it was not checked", () => {
    expect(() => plan(createFile({ ...line, price: "1e3" }))).toThrow("an unchecked catalog reached the plan");
  });
});

describe("a price without effective_at", () => {
  const current = apply(createFile(line, { ...line, plan: "pro", price: "0.4" }));

  test("keeps its version while its value is the same, even if written differently", () => {
    const file = createFile({ ...line, price: "0.50" }, { ...line, plan: "pro", price: "0.400", minimum_charge: "0" });
    const { next, newPrices } = requireChange(file, current, later);
    expect(newPrices).toEqual([]);
    expect(next.prices).toEqual(current.prices);
  });

  test.each<[string, Partial<PriceLine>]>([
    ["amount", { price: "0.6" }],
    ["least charge", { minimum_charge: "1" }],
    ["unit", { billing_type: "per_call", unit: "image" }],
    ["way of billing", { billing_type: "per_call" }],
  ])("becomes a new price from now on when its %s differs, and the old one is removed", (_what, fields) => {
    const file = createFile({ ...line, ...fields }, { ...line, plan: "pro", price: "0.4" });
    const { next, newPrices } = requireChange(file, current, later);
    expect(newPrices).toMatchObject([{ id: "price_2026-06-02_0", effectiveAt: later, planId: null }]);
    expect(next.prices).toEqual([newPrices[0], current.prices[1]]);
  });

  test.each<[string, Partial<PriceLine>]>([
    ["plan", { plan: "pro" }],
    ["account", { account: "acct_1" }],
    ["capability", { capability: "text_to_video" }],
    ["model", { model: "other" }],
  ])("is a separate price for another %s", (_what, fields) => {
    const { newPrices } = requireChange(createFile({ ...line, ...fields }), apply(createFile(line)), later);
    expect(newPrices).toHaveLength(1);
  });

  test("is compared with the newest one in force, not with an older or a future one", () => {
    const timed = (effective_at: string, price: string): PriceLine => ({ ...line, effective_at, price });
    const many = apply(createFile(timed(past, "1"), timed("2026-05-01T00:00:00Z", "2"), timed(future, "3")));
    const kept = (price: string) => requireChange(createFile({ ...line, price }), many, later).newPrices.length === 0;
    expect(["1", "2", "3"].map(kept)).toEqual([false, true, false]);
    const back = apply(createFile(timed("2026-05-01T00:00:00Z", "2"), timed(past, "1")));
    expect(requireChange(createFile({ ...line, price: "2" }), back, later).newPrices).toEqual([]);
  });

  test("is in force from the exact time it takes effect", () => {
    expect(requireChange(createFile(line), apply(createFile(line)), now).newPrices).toEqual([]);
  });
});

describe("a price with effective_at", () => {
  const timed: PriceLine = { ...line, effective_at: past };
  const inForce = "A price of film has been in force since 2026-01-01T00:00:00.000Z and can't be changed. ";

  test("keeps its version while its value is the same, even with the time written differently", () => {
    const current = apply(createFile(timed));
    const again = createFile({ ...timed, effective_at: "2026-01-01T02:00+02:00" });
    expect(requireChange(again, current, later)).toMatchObject({ newPrices: [], next: { prices: current.prices } });
  });

  test("cannot be changed once it has taken effect", () => {
    const current = apply(createFile(line, { ...timed, plan: "pro" }));
    const problems = listProblems(createFile(line, { ...timed, plan: "pro", price: "0.6" }), current);
    const message = `${inForce}Set effective_at to a future time, or remove it.`;
    expect(problems).toEqual([{ path: ["prices", 1], message }]);
  });

  test("cannot be changed from the exact time it takes effect", () => {
    const current = apply(createFile({ ...line, effective_at: future }));
    const changed = createFile({ ...line, effective_at: future, price: "0.6" });
    expect(listProblems(changed, current, new Date(Date.parse(future) - 1))).toEqual([]);
    expect(listProblems(changed, current, new Date(future))).toHaveLength(1);
  });

  test("can be changed before it takes effect: it becomes a new price, and the old one is removed", () => {
    const current = apply(createFile(line, { ...line, effective_at: future }));
    const file = createFile(line, { ...line, effective_at: future, price: "0.6" });
    const { next, newPrices } = requireChange(file, current, later);
    expect(newPrices).toMatchObject([{ effectiveAt: new Date(future), amounts: { price: 600_000_000n } }]);
    expect(next.prices).toEqual([current.prices[0], newPrices[0]]);
  });

  test("in the future leaves the one in force in place", () => {
    const current = apply(createFile(line));
    const { next, newPrices } = requireChange(createFile(line, { ...line, effective_at: future, price: "1" }), current);
    expect(next.prices).toEqual([current.prices[0], newPrices[0]]);
    expect(newPrices).toMatchObject([{ effectiveAt: new Date(future) }]);
  });

  test("once in force, excludes an entry without effective_at, which would bring the old price back", () => {
    const file = createFile(line, { ...line, effective_at: future, price: "1" });
    const current = apply(file);
    expect(listProblems(file, current, new Date(Date.parse(future) - 1))).toEqual([]);
    const message = "A later price of film with an effective_at is in force. Remove this one, which has none.";
    const problem = { path: ["prices", 0], message };
    for (const at of [new Date(future), afterwards]) expect(listProblems(file, current, at)).toEqual([problem]);
    const elsewhere = createFile(line, { ...line, effective_at: future, plan: "pro" });
    expect(listProblems(elsewhere, apply(elsewhere), afterwards)).toEqual([]);
  });

  test("every impossible entry is reported", () => {
    const current = apply(createFile(timed, { ...timed, plan: "pro" }));
    const problems = listProblems(createFile({ ...timed, price: "6" }, { ...timed, plan: "pro", price: "7" }), current);
    expect(problems.map(({ path }) => path.join(" "))).toEqual(["prices 0", "prices 1"]);
  });
});

describe("a model", () => {
  test("gets defaults for missing fields", () => {
    const route = { provider: "main", upstream_model: "film-1" };
    const full = { ...route, priority: 3, weight: 7 };
    const file = { ...createFile(line), models: [{ ...film, routes: [route, full] }] };
    const lists = { advantages: [], scenarios: [], routes: [{ ...route, priority: 0, weight: 1 }, full] };
    const rest = { logo: "", description: "", limits: {}, created_at: now.toISOString() };
    expect(apply(file).models).toEqual([{ ...film, ...lists, ...rest }]);
    expect(apply(createFile(line)).models[0]?.routes).toEqual([]);
  });

  test("keeps the date on which it first appeared, across versions, unless its entry sets one", () => {
    const grown = {
      ...createFile(line),
      models: [
        { ...film, id: "other" },
        { ...film, name: "New" },
      ],
    };
    const second = apply(grown, apply(createFile(line)), later);
    const third = apply(createFile(line), second, afterwards);
    expect(second.models.map((model) => model.created_at)).toEqual([later.toISOString(), now.toISOString()]);
    expect(third.models[0]?.created_at).toBe(now.toISOString());
    const named = { ...createFile(line), models: [{ ...film, created_at: past }] };
    expect(apply(named, third, afterwards).models[0]?.created_at).toBe(past);
  });
});

const times = [{}, { effective_at: past }, { effective_at: "2026-05-01T00:00:00Z" }, { effective_at: future }];
const scopes = [{}, { plan: "pro" }, { account: "acct_1" }, { capability: "text_to_video" as const }];

/** Any valid prices of one file: no duplicates, and none without a time beside a timed one in force. */
const lines: fc.Arbitrary<PriceLine[]> = fc
  .uniqueArray(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 }), fc.constantFrom("0", "0.5", "1.25")), {
    selector: ([scope, time]) => `${scope} ${time}`,
  })
  .map((drafts) => {
    const isSuperseded = (scope: number): boolean =>
      drafts.some(([other, time]) => other === scope && (time === 1 || time === 2));
    const possible = drafts.filter(([scope, time]) => time !== 0 || !isSuperseded(scope));
    return possible.map(([scope, time, price]) => ({ ...line, ...scopes[scope], ...times[time], price }));
  });

test("applying the same file again changes nothing until another price takes effect", () => {
  const moment = fc.date({ min: now, max: new Date(Date.parse(future) - 1), noInvalidDate: true });
  fc.assert(
    fc.property(lines, moment, (prices, at) => {
      const { version: _version, appliedAt: _appliedAt, ...first } = apply(createFile(...prices));
      const current = { ...first, version: 1, appliedAt: now };
      expect(requireChange(createFile(...prices), current, at)).toEqual({ next: first, newPrices: [] });
    }),
  );
});

test("planning changes neither the file nor the catalog in force", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const current = apply(createFile(...before));
      const file = createFile(...after);
      const kept = structuredClone({ file, current });
      plan(file, current, later);
      expect({ file, current }).toEqual(kept);
    }),
  );
});

test("a new price cannot be backdated over one in force, but a first one can", () => {
  const backdated: PriceLine = { ...line, price: "9", effective_at: "2025-01-01T00:00:00Z" };
  const current = apply(createFile(line));
  expect(listProblems(createFile(backdated), current)).toHaveLength(1);
  expect(listProblems(createFile(backdated), null)).toEqual([]);
});

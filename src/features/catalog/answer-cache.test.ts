import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { createAnswerCache, describeAudience } from "./answer-cache.ts";
import type { Catalog } from "./catalog.ts";
import { type Audience, type CatalogView, createCatalogView, listOfferedModels } from "./catalog-view.ts";
import type { Model } from "./model.ts";
import type { Price, PriceIdentity } from "./price.ts";

const film: Model = {
  ...{ id: "film", name: "Film", type: "video", logo: "", description: "", advantages: [], scenarios: [] },
  ...{ capabilities: ["text_to_video"], limits: {}, created_at: "2026-01-01T00:00:00Z", routes: [] },
};

function createPrice(id: string, fields: Partial<PriceIdentity> = {}): Price {
  return createTestPrice({ id, modelId: "film", unit: "second", rates: { second: 1n }, ...fields });
}

function createView(prices: Price[], models: Model[] = [film]): CatalogView {
  const catalog: Catalog = {
    version: 1,
    currency: "USD",
    appliedAt: new Date(0),
    providers: [],
    models,
    prices,
    multipliers: [],
  };
  return createCatalogView(catalog, { isWell: () => true, findFault: () => null, version: () => 0 });
}

/** A cache that counts how often it computes. */
function createCountingCache() {
  const cache = createAnswerCache();
  let count = 0;
  return (view: CatalogView, question: string, at = 0): number => {
    const bytes = cache.get(view, question, new Date(at), () => [++count]);
    return Number(/^\[(\d+)\]$/.exec(bytes.toString())?.[1]);
  };
}

describe("a cached response", () => {
  const view = createView([10, 20].map((at) => createPrice(`price_${at}`, { effectiveAt: new Date(at) })));

  test("is computed once per question", () => {
    const ask = createCountingCache();
    expect(["a", "a", "b", "a", "b"].map((question) => ask(view, question))).toEqual([1, 1, 2, 1, 2]);
  });

  test("is the same JSON bytes each time", () => {
    const cache = createAnswerCache();
    const first = cache.get(view, "a", new Date(0), () => ({ data: ["é"] }));
    expect(first).toEqual(Buffer.from('{"data":["é"]}', "utf8"));
    expect(cache.get(view, "a", new Date(9), () => ({ data: [] }))).toBe(first);
  });

  test("is computed again for a new catalog version, and for an old one that comes back", () => {
    const ask = createCountingCache();
    const next = createView([createPrice("price_10", { effectiveAt: new Date(10) })]);
    expect([view, next, next, view].map((current) => ask(current, "a"))).toEqual([1, 2, 2, 3]);
  });

  test("is computed again from the time at which the catalog says it may change", () => {
    const ask = createCountingCache();
    const moments = [0, 9, 10, 11, 19, 20, 21, 1_000_000];
    expect(moments.map((at) => ask(view, "a", at))).toEqual([1, 1, 2, 2, 2, 3, 3, 3]);
  });

  test("that is computed at such a time holds until the next", () => {
    const ask = createCountingCache();
    expect([10, 19, 20].map((at) => ask(view, "a", at))).toEqual([1, 1, 2]);
  });

  test("that failed is computed again at the next request", () => {
    const cache = createAnswerCache();
    const ask = (compute: () => object) => cache.get(view, "a", new Date(0), compute).toString();
    const fail = (): object => {
      throw new Error("broken");
    };
    expect(() => ask(fail)).toThrow("broken");
    expect(ask(() => ["mended"])).toBe('["mended"]');
  });
});

test("the number of cached responses is bounded, and each question gets its own", () => {
  const view = createView([]);
  const cache = createAnswerCache();
  let computed = 0;
  const ask = (question: number): string => {
    const compute = () => {
      computed += 1;
      return [question];
    };
    return cache.get(view, String(question), new Date(0), compute).toString();
  };
  const questions = Array.from({ length: 5000 }, (_, question) => question);
  const wrong = () => questions.filter((question) => ask(question) !== `[${question}]`);
  expect(wrong()).toEqual([]);
  expect(wrong()).toEqual([]);
  expect(computed).toBeGreaterThan(questions.length * 1.5);
});

describe("which accounts share responses", () => {
  const own = createPrice("price_own", { accountId: "acct_1" });
  const view = createView([createPrice("price_1"), own, createPrice("price_pro", { planId: "pro" })]);
  const stranger: Audience = { accountId: "acct_7", planId: null, modelIds: null };
  const describeOne = (fields: Partial<Audience>): string => describeAudience(view, { ...stranger, ...fields });

  test("accounts of one plan, and accounts without a plan", () => {
    expect(describeOne({ accountId: "acct_8" })).toBe(describeOne({}));
    expect(describeOne({ accountId: "acct_8", planId: "pro" })).toBe(describeOne({ planId: "pro" }));
    const scope = () => new Set(["film", "talk"]);
    expect(describeOne({ accountId: "acct_8", modelIds: scope() })).toBe(describeOne({ modelIds: scope() }));
  });

  test("not accounts of another plan, with their own prices, or with another key scope", () => {
    const different = [
      {},
      { planId: "pro" },
      { planId: "free" },
      { accountId: "acct_1" as const },
      { accountId: "acct_1" as const, planId: "pro" },
      { modelIds: new Set(["film"]) },
      { modelIds: new Set(["talk"]) },
      { modelIds: new Set(["film", "talk"]) },
      { planId: "pro", modelIds: new Set(["film"]) },
      { planId: "film" },
    ].map(describeOne);
    expect(new Set(different).size).toBe(different.length);
  });

  test("accounts that share a response would get equal ones anyway", () => {
    const audience: fc.Arbitrary<Audience> = fc.record({
      accountId: fc.constantFrom("acct_1" as const, "acct_2" as const, "acct_3" as const),
      planId: fc.constantFrom("pro", "free", null),
      modelIds: fc.option(fc.subarray(["film", "talk", "pro"], { minLength: 1 }).map((ids) => new Set(ids))),
    });
    const scope = fc.constantFrom<Partial<Price>>(
      {},
      { planId: "pro" },
      { planId: "free" },
      { accountId: "acct_1" },
      { accountId: "acct_2" },
    );
    const price = fc.tuple(scope, fc.constantFrom("film", "talk", "pro"));
    fc.assert(
      fc.property(fc.array(price), audience, audience, (drafts, one, other) => {
        const models = [film, { ...film, id: "talk", plans: ["pro"] }, { ...film, id: "pro" }];
        const prices = drafts.map(([fields, modelId], index) => createPrice(`price_${index}`, { ...fields, modelId }));
        const made = createView(prices, models);
        fc.pre(describeAudience(made, one) === describeAudience(made, other));
        const answer = (who: Audience) => listOfferedModels(made, who, new Date(0));
        expect(answer(one)).toEqual(answer(other));
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { presentFactor } from "../../lib/factor.ts";
import type { Catalog } from "./catalog.ts";
import {
  type Audience,
  createCatalogView,
  findOfferedModel,
  listOfferedModels,
  type ModelFilter,
} from "./catalog-view.ts";
import type { Model } from "./model.ts";
import type { Multiplier } from "./multiplier.ts";
import type { Price, PriceIdentity } from "./price.ts";

const route = { provider: "main", upstream_model: "film-1", priority: 0, weight: 1 };
const film: Model = {
  ...{ id: "film", name: "Film", type: "video", logo: "", description: "", advantages: [], scenarios: [] },
  ...{ capabilities: ["text_to_video"], limits: {}, created_at: "2026-01-01T00:00:00Z", routes: [route] },
};
const talk: Model = { ...film, id: "talk", type: "chat", capabilities: ["chat", "tools"] };

/** A public price in force since time 0, unless the fields say otherwise. */
function createPrice(id: string, fields: Partial<Omit<PriceIdentity, "effectiveAt">> & { at?: number } = {}): Price {
  const { at = 0, ...rest } = fields;
  const effectiveAt = new Date(at);
  return createTestPrice({ id, modelId: "film", effectiveAt, unit: "second", rates: { second: 1n }, ...rest });
}

function createView(content: { models?: Model[]; prices?: Price[]; multipliers?: Multiplier[] }) {
  const { models = [film], prices = [createPrice("price_1")], multipliers = [] } = content;
  const catalog: Catalog = {
    version: 1,
    currency: "USD",
    appliedAt: new Date(0),
    providers: [{ id: "main", kind: "sandbox" }],
    models,
    prices,
    multipliers,
  };
  return createCatalogView(catalog, allWell);
}

const allWell = { isWell: () => true, findFault: () => null, version: () => 0 };
const anybody: Audience = { accountId: "acct_1", planId: null, modelIds: null };
const member: Audience = { ...anybody, planId: "pro" };

function listIds(view: ReturnType<typeof createView>, audience: Audience, at: number, filter?: ModelFilter): string[] {
  return listOfferedModels(view, audience, new Date(at), filter).map(({ model }) => model.id);
}

function listPriceIds(prices: Price[], audience: Audience, at: number): string[] {
  return listOfferedModels(createView({ prices }), audience, new Date(at)).flatMap((offered) =>
    offered.prices.map(({ id }) => id),
  );
}

const scopes = [{}, { planId: "pro" }, { planId: "free" }, { accountId: "acct_1" }, { accountId: "acct_2" }];
const anyPrices = fc
  .uniqueArray(
    fc.record({
      modelId: fc.constantFrom("film", "talk"),
      capability: fc.constantFrom("chat" as const, null),
      scope: fc.constantFrom(...scopes),
      at: fc.nat({ max: 10 }),
    }),
    { selector: (draft) => JSON.stringify(draft) },
  )
  .map((drafts) => drafts.map(({ scope, ...rest }, index) => createPrice(`price_${index}`, { ...rest, ...scope })));

const anyAudience: fc.Arbitrary<Audience> = fc.record({
  accountId: fc.constantFrom("acct_1" as const, "acct_2" as const, "acct_3" as const),
  planId: fc.constantFrom("pro", "free", null),
  modelIds: fc.constantFrom(null, new Set(["film"])),
});

describe("which price holds", () => {
  const everybody = createPrice("everybody", { at: 9 });
  const plan = createPrice("plan", { planId: "pro", at: 8 });
  const account = createPrice("account", { accountId: "acct_1", at: 7 });

  test.each([
    ["as written", [everybody, plan, account]],
    ["the other way round", [account, plan, everybody]],
  ])("the account's own wins over its plan's, which wins over the public price, however old (%s)", (_order, all) => {
    expect(listPriceIds(all, member, 10)).toEqual(["account"]);
    expect(listPriceIds(all, { ...member, accountId: "acct_2" }, 10)).toEqual(["plan"]);
    expect(listPriceIds(all, { ...anybody, accountId: "acct_2" }, 10)).toEqual(["everybody"]);
    expect(listPriceIds(all, { ...anybody, accountId: "acct_2", planId: "free" }, 10)).toEqual(["everybody"]);
  });

  test.each([
    ["in order", [1, 5, 3]],
    ["in disorder", [5, 3, 1]],
  ])("the newest price in force holds, from the time it takes effect (%s)", (_order, times) => {
    const prices = times.map((at) => createPrice(`price_${at}`, { at }));
    const holding = [0, 1, 2, 3, 4, 5, 6].map((at) => listPriceIds(prices, anybody, at).join());
    expect(holding).toEqual(["", "price_1", "price_1", "price_3", "price_3", "price_5", "price_5"]);
  });

  test("a future price of the account does not yet replace its plan's", () => {
    const announced = createPrice("announced", { accountId: "acct_1", at: 20 });
    expect(listPriceIds([plan, announced], member, 19)).toEqual(["plan"]);
    expect(listPriceIds([plan, announced], member, 20)).toEqual(["announced"]);
  });

  test("each capability has its own price, chosen independently", () => {
    const prices = [
      createPrice("script", { capability: "script_generation" }),
      createPrice("board", { capability: "storyboard" }),
      createPrice("own-board", { capability: "storyboard", planId: "pro" }),
      createPrice("rest"),
    ];
    expect(listPriceIds(prices, anybody, 0)).toEqual(["script", "board", "rest"]);
    expect(listPriceIds(prices, member, 0)).toEqual(["script", "own-board", "rest"]);
  });

  test("for any prices the choice equals a naive one", () => {
    fc.assert(
      fc.property(anyPrices, anyAudience, fc.nat({ max: 11 }), (prices, { modelIds: _any, ...who }, at) => {
        const audience = { ...who, modelIds: null };
        const expected = new Set<string>();
        for (const { modelId, capability } of prices) {
          const rivals = prices.filter((price) => price.modelId === modelId && price.capability === capability);
          const held = rivals.filter(({ effectiveAt }) => effectiveAt.getTime() <= at);
          const own = held.filter(({ accountId }) => accountId === audience.accountId);
          const ofPlan = held.filter(({ planId }) => planId !== null && planId === audience.planId);
          const common = held.filter(({ accountId, planId }) => accountId === null && planId === null);
          const level = [own, ofPlan, common].find((found) => found.length > 0) ?? [];
          const newest = level.toSorted((one, other) => Number(one.effectiveAt) - Number(other.effectiveAt)).at(-1);
          if (newest !== undefined) expected.add(newest.id);
        }
        const view = createView({ models: [film, talk], prices });
        const chosen = listOfferedModels(view, audience, new Date(at)).flatMap((offered) => offered.prices);
        expect(chosen.map(({ id }) => id).toSorted()).toEqual([...expected].toSorted());
      }),
    );
  });
});

describe("which models are offered", () => {
  const both = [film, talk];
  const prices = [createPrice("price_1"), createPrice("price_2", { modelId: "talk" })];

  test("all that the audience may use, in the catalog's order; none without a catalog", () => {
    expect(listIds(createView({ models: both, prices }), anybody, 0)).toEqual(["film", "talk"]);
    expect(listIds(createView({ models: [talk, film], prices }), anybody, 0)).toEqual(["talk", "film"]);
    expect(listOfferedModels(createCatalogView(null, allWell), anybody, new Date(0))).toEqual([]);
  });

  test("a model without a price in force for the audience is neither listed nor found", () => {
    const view = createView({ prices: [createPrice("announced", { at: 5 }), createPrice("own", { planId: "pro" })] });
    expect(listIds(view, anybody, 4)).toEqual([]);
    expect(findOfferedModel(view, "film", anybody, new Date(4))).toEqual({ kind: "absent" });
    expect(listIds(view, anybody, 5)).toEqual(["film"]);
    expect(listIds(view, member, 4)).toEqual(["film"]);
    expect(listIds(createView({ prices: [] }), anybody, 5)).toEqual([]);
  });

  test("a model of some plans does not exist for accounts of other plans or of none", () => {
    const view = createView({ models: [{ ...film, plans: ["gold", "pro"] }] });
    for (const outsider of [anybody, { ...anybody, planId: "free" }]) {
      expect(listIds(view, outsider, 0)).toEqual([]);
      expect(findOfferedModel(view, "film", outsider, new Date(0))).toEqual({ kind: "absent" });
    }
    expect(listIds(view, member, 0)).toEqual(["film"]);
    expect(findOfferedModel(view, "film", member, new Date(0))).toMatchObject({ kind: "offered" });
  });

  test("a key sees the models in its scope; a model outside the scope is distinct from an absent one", () => {
    const secret = { ...talk, id: "secret", plans: ["pro"] };
    const all = [...prices, createPrice("price_3", { modelId: "secret" })];
    const view = createView({ models: [...both, secret], prices: all });
    const narrow = { ...anybody, modelIds: new Set(["talk", "secret", "gone"]) };
    const find = (id: string) => findOfferedModel(view, id, narrow, new Date(0)).kind;
    expect(listIds(view, narrow, 0)).toEqual(["talk"]);
    expect(["talk", "film", "secret", "gone"].map(find)).toEqual(["offered", "outside-key-scope", "absent", "absent"]);
  });

  test("an audience is offered what is right now, whatever it was offered before", () => {
    let wellVersion = 0;
    const health = { isWell: () => wellVersion === 0, findFault: () => null, version: () => wellVersion };
    const soon = { ...talk, deprecated_at: "1970-01-01T00:00:00.003Z", shutdown_date: "1970-01-01T00:00:00.006Z" };
    const raised = createPrice("price_4", { modelId: "talk", at: 5 });
    const catalog = createView({ models: [soon], prices: [...prices, raised] }).catalog;
    const view = createCatalogView(catalog, health);
    const find = (at: number, current = view) => {
      const found = findOfferedModel(current, "talk", anybody, new Date(at));
      return found.kind === "offered" ? [found.offered.status, found.offered.prices[0]?.id] : found.kind;
    };
    for (const _ of ["first", "again"]) {
      expect([2, 3, 5, 6, 2].map((at) => find(at))).toEqual([
        ["available", "price_2"],
        ["deprecated", "price_2"],
        ["deprecated", "price_4"],
        "absent",
        ["available", "price_2"],
      ]);
    }
    wellVersion += 1;
    expect(find(2)).toEqual(["unavailable", "price_2"]);
    expect(find(2, createCatalogView(null, health))).toBe("absent");
    expect(findOfferedModel(view, "talk", { ...anybody, modelIds: new Set() }, new Date(2)).kind).toBe(
      "outside-key-scope",
    );
  });

  test("a found model equals the listed one, with its status and prices", () => {
    const view = createView({ models: both, prices });
    const [, second] = listOfferedModels(view, anybody, new Date(0));
    expect(second).toEqual({ model: talk, status: "available", prices: [prices[1]] });
    expect(findOfferedModel(view, "talk", anybody, new Date(0))).toEqual({ kind: "offered", offered: second });
  });

  test("filters combine", () => {
    const view = createView({
      models: [...both, { ...talk, id: "idle", routes: [] }],
      prices: [...prices, createPrice("price_3", { modelId: "idle" })],
    });
    const list = (filter: ModelFilter) => listIds(view, anybody, 0, filter).join();
    expect(list({})).toBe("film,talk,idle");
    expect(list({ type: "chat" })).toBe("talk,idle");
    expect(list({ capability: "text_to_video" })).toBe("film");
    expect(list({ status: "available" })).toBe("film,talk");
    expect(list({ type: "chat", status: "available" })).toBe("talk");
    expect(list({ type: "chat", capability: "tools", status: "unavailable" })).toBe("idle");
    expect(list({ type: "video", capability: "tools" })).toBe("");
    expect(list({ status: "degraded" })).toBe("");
  });
});

describe("the status of a model", () => {
  const statusAt = (model: Model, at: string) =>
    listOfferedModels(createView({ models: [model] }), anybody, new Date(at))[0]?.status;
  const aging: Model = { ...film, deprecated_at: "2026-02-01T00:00:00Z", shutdown_date: "2026-03-01T01:00:00+01:00" };

  test("with routes it is available, without any it is unavailable, even if deprecated", () => {
    expect(statusAt(film, "2026-02-15T00:00:00Z")).toBe("available");
    expect(statusAt({ ...film, routes: [] }, "2026-02-15T00:00:00Z")).toBe("unavailable");
    expect(statusAt({ ...aging, routes: [] }, "2026-02-15T00:00:00Z")).toBe("unavailable");
  });

  describe("whose upstreams are not all healthy", () => {
    const spare = { ...route, provider: "spare" };
    const providers = [
      { id: "main", kind: "sandbox" as const },
      { id: "spare", kind: "openai-compatible" as const, api_keys: ["${FIRST_KEY}", "${SECOND_KEY}"] },
    ];
    /** The status of a model while the circuits of the named targets are open. */
    const statusWhile = (model: Model, ...resting: string[]) => {
      const isWell = ({ providerId, keyNumber }: { providerId: string; keyNumber: number }): boolean =>
        !resting.includes(`${providerId} ${keyNumber}`);
      const prices = [createPrice("price_1")];
      const catalog = {
        version: 1,
        currency: "USD",
        appliedAt: new Date(0),
        providers,
        models: [model],
        prices,
        multipliers: [],
      };
      const view = createCatalogView(catalog, { isWell, findFault: () => null, version: () => 0 });
      return listOfferedModels(view, anybody, new Date("2026-02-15T00:00:00Z"))[0]?.status;
    };
    const both: Model = { ...film, routes: [route, spare] };

    test("it is degraded while some can serve it, and unavailable when none can", () => {
      expect(statusWhile(both)).toBe("available");
      expect(statusWhile(both, "main 0")).toBe("degraded");
      expect(statusWhile(both, "spare 0")).toBe("degraded");
      expect(statusWhile(both, "main 0", "spare 0")).toBe("degraded");
      expect(statusWhile(both, "main 0", "spare 0", "spare 1")).toBe("unavailable");
      expect(statusWhile(film, "spare 0", "spare 1")).toBe("available");
    });

    test("a deprecated one stays deprecated while it can be served", () => {
      const old = { ...both, deprecated_at: "2026-02-01T00:00:00Z" };
      expect(statusWhile(old, "main 0")).toBe("deprecated");
      expect(statusWhile(old, "main 0", "spare 0", "spare 1")).toBe("unavailable");
    });

    test("one whose only route names no provider is unavailable", () => {
      expect(statusWhile({ ...film, routes: [{ ...route, provider: "gone" }] })).toBe("unavailable");
    });
  });

  describe("of a drama", () => {
    const parts = ["chat", "image", "video", "speech", "avatar"] as const;
    const capabilities: Model["capabilities"] = ["script_generation", "role_analysis", "storyboard", "drama_video"];
    const drama: Model = {
      ...{ ...film, type: "drama", capabilities, routes: [] },
      stages: {
        script: { chat: "chat-part" },
        roles: { chat: "chat-part" },
        storyboard: { chat: "chat-part", image: "image-part" },
        video: { video: "video-part", speech: "speech-part", avatar: "avatar-part" },
      },
    };
    /** Models that no account is offered: of another plan, shut down, or without a price. */
    const partModels = parts.map(
      (type): Model => ({
        ...{ ...film, id: `${type}-part`, type, plans: ["none"], shutdown_date: "2026-01-02T00:00:00Z" },
        routes: ["main", "spare"].map((provider) => ({ ...route, provider, upstream_model: type })),
      }),
    );
    const providers = ["main", "spare"].map((id) => ({ id, kind: "sandbox" as const }));
    const statusWhile = (model: Model, resting: string[], others = partModels) => {
      const isWell = ({ providerId, upstreamModel }: { providerId: string; upstreamModel: string }): boolean =>
        !resting.includes(`${providerId} ${upstreamModel}`);
      const content = { providers, models: [model, ...others], prices: [createPrice("price_1")] };
      const catalog = { version: 1, currency: "USD", appliedAt: new Date(0), multipliers: [], ...content };
      const offered = listOfferedModels(
        createCatalogView(catalog, { isWell, findFault: () => null, version: () => 0 }),
        anybody,
        new Date("2026-02-15T00:00:00Z"),
      );
      expect(offered).toHaveLength(1);
      return offered[0]?.status;
    };

    test("is that of the weakest stage model, even one that callers may not use", () => {
      expect(statusWhile(drama, [])).toBe("available");
      for (const type of parts) {
        expect(statusWhile(drama, [`main ${type}`]), type).toBe("degraded");
        const without = statusWhile(drama, [`main ${type}`, `spare ${type}`, "main chat"]);
        expect(without, type).toBe(type === "avatar" ? "degraded" : "unavailable");
      }
    });

    test("is unavailable when a stage model has no routes or does not exist", () => {
      const idle = partModels.map((model) => (model.type === "speech" ? { ...model, routes: [] } : model));
      expect(statusWhile(drama, [], idle)).toBe("unavailable");
      expect(statusWhile(drama, [], partModels.slice(1))).toBe("unavailable");
    });

    test("ignores stages that it does not offer", () => {
      const writer: Model = {
        ...drama,
        capabilities: ["script_generation"],
        stages: { script: { chat: "chat-part" } },
      };
      expect(statusWhile(writer, ["main video", "spare video"])).toBe("available");
    });

    test("is deprecated only by its own date, while it can be served", () => {
      const aging = partModels.map((model) => ({ ...model, deprecated_at: "2026-01-01T00:00:00Z" }));
      expect(statusWhile(drama, [], aging)).toBe("available");
      const old = { ...drama, deprecated_at: "2026-02-01T00:00:00Z" };
      expect(statusWhile(old, ["main chat"])).toBe("deprecated");
      expect(statusWhile(old, ["main chat", "spare chat"])).toBe("unavailable");
    });
  });

  test.each([
    ["2026-01-31T23:59:59.999Z", "available"],
    ["2026-02-01T00:00:00.000Z", "deprecated"],
    ["2026-02-28T23:59:59.999Z", "deprecated"],
    ["2026-03-01T00:00:00.000Z", undefined],
  ])("at %s a model on its way out is %s", (at, status) => {
    expect(statusAt(aging, at)).toBe(status);
    const found = findOfferedModel(createView({ models: [aging] }), "film", anybody, new Date(at));
    expect(found.kind).toBe(status === undefined ? "absent" : "offered");
  });
});

describe("the times when a response changes without a new version", () => {
  test("are those that the catalog names, each once, sorted", () => {
    const models = [
      { ...film, deprecated_at: "1970-01-01T00:00:00.007Z", shutdown_date: "1970-01-01T01:00:00.009+01:00" },
      { ...talk, deprecated_at: "1970-01-01T00:00:00.003Z" },
    ];
    const prices = [100, 3, 20].map((at) => createPrice(`price_${at}`, { at }));
    expect(createView({ models, prices }).turningPointsMs).toEqual([3, 7, 9, 20, 100]);
    expect(createView({ prices: [] }).turningPointsMs).toEqual([]);
    expect(createCatalogView(null, allWell).turningPointsMs).toEqual([]);
  });

  test("between two of them, every response stays the same", () => {
    const time = fc.option(fc.nat({ max: 10 }), { nil: undefined });
    const name = (field: string, at: number | undefined) =>
      at === undefined ? {} : { [field]: new Date(at).toISOString() };
    const audiences = fc.array(anyAudience, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyPrices, time, time, audiences, (prices, deprecatedAt, shutDownAt, everyone) => {
        const aging = { ...film, ...name("deprecated_at", deprecatedAt), ...name("shutdown_date", shutDownAt) };
        const view = createView({ models: [aging, talk], prices });
        const answer = (at: number) => everyone.map((audience) => listOfferedModels(view, audience, new Date(at)));
        for (let at = 1; at <= 12; at += 1) {
          if (!view.turningPointsMs.includes(at)) expect(answer(at)).toEqual(answer(at - 1));
        }
      }),
    );
  });
});

describe("a multiplier", () => {
  const plan = { plan: "pro", factor: "0.9" };
  const account = { account: "acct_1", factor: "0.5" };

  /** The price of a second, in thousandths of a nano, or `null` without a factor. */
  function findFactor(multipliers: Multiplier[], price: Partial<PriceIdentity> = {}, audience = member, at = 0) {
    const view = createView({ prices: [createPrice("price_1", price)], multipliers });
    const [offered] = listOfferedModels(view, audience, new Date(at))[0]?.prices ?? [];
    return offered?.multiplier === null || offered === undefined ? null : presentFactor(offered.multiplier);
  }

  test.each<[string, string | null, Multiplier[], Partial<PriceIdentity>?]>([
    ["of the plan applies to the general price", "0.9", [plan]],
    ["of the account beats the plan's, even the plan's for the model", "0.5", [{ ...plan, model: "film" }, account]],
    [
      "of a model beats that of its type",
      "0.7",
      [
        { ...plan, type: "video" },
        { ...plan, model: "film", factor: "0.7" },
      ],
    ],
    ["of a type beats that of everything", "0.7", [{ ...plan, type: "video", factor: "0.7" }, plan]],
    [
      "of another type, model, plan or account does not apply",
      null,
      [
        { ...plan, type: "image" },
        { ...plan, model: "x" },
        { ...plan, plan: "free" },
        { ...account, account: "acct_2" },
      ],
    ],
    ["never applies to a fixed price of the account", null, [plan, account], { accountId: "acct_1" }],
    ["of the plan does not apply to a fixed price of the plan", null, [plan], { planId: "pro" }],
    ["of the account applies to a fixed price of its plan", "0.5", [plan, account], { planId: "pro" }],
  ])("%s", (_name, factor, multipliers, price) => {
    expect(findFactor(multipliers, price)).toBe(factor);
  });

  test("applies from its beginning until before its end, and of two in force the later one", () => {
    const timed = {
      ...plan,
      effective_at: new Date(10).toISOString(),
      ends_at: new Date(20).toISOString(),
      factor: "0.7",
    };
    expect([9, 10, 19, 20].map((at) => findFactor([plan, timed], {}, member, at))).toEqual([
      "0.9",
      "0.7",
      "0.7",
      "0.9",
    ]);
    expect(createView({ multipliers: [timed] }).turningPointsMs).toEqual([0, 10, 20]);
  });

  test("multiplies exactly, and the compiled price is the same for all calls", () => {
    const view = createView({ multipliers: [plan] });
    const list = () => listOfferedModels(view, member, new Date(0))[0]?.prices[0];
    expect(list()).toMatchObject({ amounts: { price: 9n, per: 10n }, marks: [{ name: "multiplier:0.9", rate: 0n }] });
    expect(list()).toBe(list());
  });
});

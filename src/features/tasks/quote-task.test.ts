import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTestPrice } from "../../../test/harness/create-test-price.ts";
import { computeCharge } from "../../lib/bill.ts";
import { noFactor, parseFactor } from "../../lib/factor.ts";
import { nano } from "../../lib/money.ts";
import type { GenerationRequest } from "../../providers/generation.ts";
import type { OptionValues } from "../../providers/media-options.ts";
import { derivePrice, type Price } from "../catalog/index.ts";
import { billDelivered, billTask, countPriceUnits, priceStage, priceTask, quoteTask } from "./quote-task.ts";
import type { StagedTerms, StageTerms, TaskOutput, TaskTerms } from "./task.ts";

const itemByUnit = { image: "image", call: "call", second: "second", "1K characters": "character" } as const;

function createPrice(unit: keyof typeof itemByUnit, price: bigint, minimum = 0n): Price {
  return createTestPrice({ unit, rates: { [itemByUnit[unit]]: price }, minimum });
}

function createOutput(durationMs: number | null): TaskOutput {
  return {
    type: "image",
    fileId: "file_1",
    contentType: "image/png",
    bytes: 1,
    sha256: "",
    width: 1,
    height: 1,
    durationMs,
    expiresAt: new Date(0),
  };
}

const image: GenerationRequest = { type: "image", prompt: "p", width: 1, height: 1, count: 4 };
const video: GenerationRequest = { type: "video", prompt: "p", durationSeconds: 5, aspectRatio: "16:9" };
const avatar: GenerationRequest = { type: "avatar", aspectRatio: "9:16" };
const speech: GenerationRequest = { type: "speech", text: "né 👋🏽!", voice: "v", format: "mp3", speed: 1 };

function quote(price: Price, request: GenerationRequest, audioSeconds: number | null = null) {
  return quoteTask(price, { request, inputImages: 0, audioSeconds, budgetAmount: null });
}

function countUnits(terms: TaskTerms, output: readonly TaskOutput[]): bigint {
  return billDelivered(terms, output).units;
}

test("images are held by the piece and charged by those delivered", () => {
  const terms = quote(createPrice("image", 20n), image);
  expect(priceTask(terms)).toBe(80n);
  const delivered = countUnits(terms, [createOutput(null), createOutput(null), createOutput(null)]);
  expect(delivered).toBe(3n);
  expect(billTask(terms, delivered)).toMatchObject({
    items: [{ name: "images", quantity: 3n, rate: 20n }],
    quotaUnits: 3n,
  });
});

test("outputs beyond those requested cost nothing extra", () => {
  const terms = quote(createPrice("image", 20n), image);
  expect(
    countUnits(
      terms,
      Array.from({ length: 9 }, () => createOutput(null)),
    ),
  ).toBe(4n);
});

test("no output costs nothing", () => {
  const terms = quote(createPrice("call", 20n), image);
  expect(countUnits(terms, [])).toBe(0n);
});

test.each([
  [5_040, 5n],
  [5_000, 5n],
  [4_101, 5n],
  [4_000, 4n],
])("a video of %i ms, requested with 5 s, costs %i seconds", (durationMs, seconds) => {
  const terms = quote(createPrice("second", 50n), video);
  expect(priceTask(terms)).toBe(250n);
  expect(countUnits(terms, [createOutput(durationMs)])).toBe(seconds);
});

test("an avatar is held for the length of its audio and uses the video quota", () => {
  const terms = quote(createPrice("second", 30n, 1_000n), avatar, 12);
  expect(priceTask(terms)).toBe(1_000n);
  expect(terms.unitsMax).toBe(12n);
  expect(terms.quota).toEqual({ kind: "video", unitsMax: 12n });
});

test("speech counts characters as people do, and uses the text quota by tokens", () => {
  const terms = quote(createPrice("1K characters", 15_000n), speech);
  // n, é, a space, the hand, its colour, the exclamation mark.
  expect(terms.unitsMax).toBe(6n);
  expect(priceTask(terms)).toBe(90n);
  expect(terms.quota).toEqual({ kind: "text", unitsMax: 2n });
  expect(countPriceUnits(terms, 6n)).toBe(1n);
  expect(countPriceUnits(terms, 1_001n)).toBe(2n);
  expect(countPriceUnits(terms, 0n)).toBe(0n);
});

test("a price per call charges the call, whatever it returns", () => {
  const terms = quote(createPrice("call", 7n), image);
  expect(priceTask(terms)).toBe(7n);
  expect(countUnits(terms, [createOutput(null)])).toBe(1n);
});

test("quota usage shrinks with what was delivered", () => {
  const terms = quote(createPrice("second", 50n), video);
  expect(billTask(terms, 3n).quotaUnits).toBe(3n);
  expect(billTask(terms, 5n).quotaUnits).toBe(5n);
});

test("rates are chosen by the request's options, input images and fees are added, and the bill says why", () => {
  const price = derivePrice(
    createTestPrice({
      unit: "image",
      items: [
        { item: "image", rate: nano(100n), when: { quality: "high", size: "1x1" } },
        { item: "image", rate: nano(30n), when: { input: "image" } },
        { item: "input_image", rate: nano(7n) },
      ],
      rates: { image: 20n, call: 3n },
    }),
    { multiplier: parseFactor("0.8") },
  );
  const quoteWith = (options: OptionValues, inputImages: number) =>
    quoteTask(price, { request: { ...image, options }, inputImages, audioSeconds: null, budgetAmount: null });
  const high = quoteWith({ quality: "high" }, 2);
  // (4 × 100 + 2 × 7 + 3) × 0.8, rounded half up.
  expect(priceTask(high)).toBe(334n);
  expect(billTask(high, 4n).items).toEqual([
    { name: "images", quantity: 4n, rate: 400n },
    { name: "input_images", quantity: 2n, rate: 28n },
    { name: "calls", quantity: 1n, rate: 12n },
    ...["quality:high", "size:1x1", "input:image", "multiplier:0.8"].map((name) => ({ name, quantity: 1n, rate: 0n })),
  ]);
  expect(priceTask(quoteWith({ quality: "low" }, 1))).toBe(104n);
  expect(priceTask(quoteWith({ quality: "low" }, 0))).toBe(66n);
  expect(billDelivered(high, []).bill).toBeNull();
});

test("a media quote equals its charge if the task delivers what was requested, at any price", () => {
  const rate = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(nano);
  const factor = fc.integer({ min: 0, max: 30_000 }).map((digits) => parseFactor((digits / 10_000).toFixed(4)));
  const asked = fc.record({ seconds: fc.integer({ min: 1, max: 60 }), images: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(
      fc.tuple(rate, rate, rate, rate),
      factor,
      asked,
      fc.boolean(),
      fc.boolean(),
      (rates, multiplier, size, isKeyed, isVideo) => {
        const item = isVideo ? "second" : "image";
        const [keyed, plain, fee, minimum] = rates;
        const items = [
          { item, rate: keyed, when: { resolution: "1080p" } },
          { item, rate: plain },
          { item: "input_image", rate: fee },
        ] as const;
        const price = derivePrice(createTestPrice({ unit: item, items, minimum }), { multiplier });
        const options = { resolution: isKeyed ? "1080p" : "720p" };
        const request: GenerationRequest = isVideo
          ? { ...video, durationSeconds: size.seconds, options }
          : { ...image, count: size.images, options };
        const terms = quoteTask(price, { request, inputImages: size.images, audioSeconds: null, budgetAmount: null });
        const output = isVideo
          ? [createOutput(size.seconds * 1000)]
          : Array.from({ length: size.images }, () => createOutput(null));
        const { bill } = billDelivered(terms, output);
        const units = BigInt(isVideo ? size.seconds : size.images);
        const { numerator, denominator } = multiplier ?? noFactor;
        const round = (amount: bigint): bigint => (2n * amount * numerator + denominator) / (2n * denominator);
        const cost = round(units * (isKeyed ? keyed : plain) + BigInt(size.images) * fee);
        const least = round(minimum);
        expect([priceTask(terms), bill === null ? null : computeCharge(bill)]).toEqual(
          Array.from({ length: 2 }, () => (cost > least ? cost : least)),
        );
      },
    ),
  );
});

describe("a staged task", () => {
  function stageOf(step: string, more: Partial<StageTerms> = {}): StageTerms {
    const price = {
      priceId: `price_${step}`,
      rate: nano(20n),
      per: 1n,
      minimum: nano(0n),
      counts: "calls",
      unitsMax: 1n,
    } as const;
    return { step, outputType: step as StageTerms["outputType"], ...price, ...more };
  }

  const film = stageOf("film", {
    ...{ outputType: "video", rate: nano(80n), minimum: nano(400n), counts: "seconds", unitsMax: 60n },
  });
  const terms: StagedTerms = {
    stages: [stageOf("script"), stageOf("roles", { rate: nano(10n) }), film],
    marks: [],
    quota: { kind: "video", unitsMax: 62n },
    budgetAmount: null,
  };
  const script: TaskOutput = { ...createOutput(null), type: "script" };
  const roles: TaskOutput = { ...createOutput(null), type: "roles" };
  const filmOf = (durationMs: number): TaskOutput => ({ ...createOutput(durationMs), type: "video" });

  function chargeFor(...output: TaskOutput[]): bigint {
    const { bill } = billDelivered(terms, output);
    return bill === null ? 0n : computeCharge(bill);
  }

  test("holds the maximum cost of all stages", () => {
    expect(priceTask(terms)).toBe(20n + 10n + 4_800n);
    expect(priceTask({ ...terms, stages: [] })).toBe(0n);
  });

  test("holds a stage's minimum charge if that is more", () => {
    const short = { ...film, unitsMax: 3n };
    expect(priceTask({ ...terms, stages: [short] })).toBe(400n);
  });

  test("is charged once for each stage that has outputs, and nothing otherwise", () => {
    expect(chargeFor()).toBe(0n);
    expect(chargeFor(script)).toBe(20n);
    expect(chargeFor(roles)).toBe(10n);
    expect(chargeFor(script, roles)).toBe(30n);
    expect(chargeFor(script, script)).toBe(20n);
    expect(chargeFor(createOutput(9_000))).toBe(0n);
    expect(billDelivered(terms, []).bill).toBeNull();
  });

  test.each([
    [10_000, 800n],
    [9_101, 800n],
    [5_000, 400n],
    [4_000, 400n],
    [1, 400n],
    [60_000, 4_800n],
    [90_000, 4_800n],
  ])(
    "whose film takes %i ms is charged %d for it: begun seconds, the minimum, and never more than was held",
    (durationMs, due) => {
      expect(chargeFor(filmOf(durationMs))).toBe(due);
      expect(priceStage(film, [filmOf(durationMs)])).toBe(due);
    },
  );

  test("has a bill that names each stage, its quantity and its quota", () => {
    expect(billDelivered(terms, [filmOf(10_000), roles, script])).toEqual({
      units: 12n,
      bill: {
        ...{ priceId: "price_film", per: 1n, minimum: 0n, quotaUnits: 12n },
        items: [
          { name: "script_calls", quantity: 1n, rate: 20n },
          { name: "roles_calls", quantity: 1n, rate: 10n },
          { name: "film_seconds", quantity: 10n, rate: 80n },
        ],
      },
    });
    expect(billDelivered(terms, [filmOf(2_000)]).bill?.items).toEqual([
      { name: "film_minimum", quantity: 1n, rate: 400n },
    ]);
  });

  test("prices one stage by its outputs", () => {
    expect(priceStage(film, [])).toBe(0n);
    expect(priceStage(stageOf("script"), [roles])).toBe(0n);
    expect(priceStage(stageOf("script"), [script, roles])).toBe(20n);
  });

  test("counts each stage and each second as one unit", () => {
    expect(countPriceUnits(terms, 12n)).toBe(12n);
  });

  test("with free stages costs nothing and has no bill", () => {
    const free = { ...terms, stages: [stageOf("script", { rate: nano(0n) })] };
    expect(priceTask(free)).toBe(0n);
    expect(computeCharge(billDelivered(free, [script]).bill ?? { items: [], per: 1n, minimum: nano(0n) })).toBe(0n);
  });

  test("stages whose factors have different fractions add up exactly", () => {
    const [third, tenth] = [
      stageOf("script", { rate: nano(7n), per: 4n }),
      stageOf("roles", { rate: nano(9n), per: 10n }),
    ];
    // 7/4 + 9/10 = 2.65; a minimum is for the stage alone.
    expect(priceTask({ ...terms, stages: [third, tenth] })).toBe(3n);
    expect(priceTask({ ...terms, stages: [third, { ...tenth, minimum: nano(2n) }] })).toBe(4n);
  });
});

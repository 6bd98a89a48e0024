import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { checkCatalog } from "../../src/features/catalog/check-catalog.ts";
import { createPrice, derivePrice } from "../../src/features/catalog/compile-price.ts";
import { parseCatalog } from "../../src/features/catalog/parse-catalog.ts";
import type { Price, ServiceTier } from "../../src/features/catalog/price.ts";
import { readPriceTerms } from "../../src/features/catalog/read-price-line.ts";
import { billChat, createUsage } from "../../src/features/chat/quote-chat.ts";
import { priceTask, quoteTask } from "../../src/features/tasks/quote-task.ts";
import { computeCharge } from "../../src/lib/bill.ts";
import { nano, parseMoney } from "../../src/lib/money.ts";
import type { GenerationRequest } from "../../src/providers/generation.ts";
import { listBlocks } from "../harness/doc-blocks.ts";
import { repositoryDir } from "../harness/repository-files.ts";

type Fields = Record<string, unknown>;
type Example = { catalog: Fields; worked: Worked };
type Worked = { usage?: Usage; request?: Request; charge: string };
type Usage = {
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens?: number;
  service_tier?: ServiceTier;
  search?: boolean;
};
type Request = { size?: string; duration?: number; n?: number; input_images?: number } & Fields;

const provider = { id: "acme", kind: "openai-compatible", base_url: "https://api.acme.example/v1" };
const media = { id: "acme", kind: "fal", api_keys: [`\${FAL_KEY}`] };

function listExamples(): Example[] {
  const guide = readFileSync(join(repositoryDir, "docs/operating/pricing.md"), "utf8");
  const blocks = listBlocks(guide)
    .filter(({ language }) => language === "yaml")
    .map(({ text }) => parse(text) as Fields);
  return blocks.flatMap((catalog, index) =>
    "models" in catalog ? [{ catalog, worked: blocks[index + 1] as Worked }] : [],
  );
}

/** The catalog as `catalog check` reads it. */
function readPrice({ catalog, worked }: Example): Price {
  const source = stringify({
    currency: "USD",
    providers: [worked.request === undefined ? provider : media],
    ...catalog,
  });
  const parsed = parseCatalog(source);
  if (parsed.kind === "malformed") throw new Error(JSON.stringify(parsed.problems));
  const none = new Set<string>();
  const around = { currency: "USD", planIds: none, accountIds: none, findPackageFault: () => null };
  expect(checkCatalog(parsed.file, { ...around, hasSecret: () => true })).toEqual([]);
  const [line] = parsed.file.prices;
  if (line === undefined) throw new Error("an example has no price");
  const scope = { modelId: line.model, capability: null, planId: null, accountId: null, effectiveAt: new Date(0) };
  return createPrice({ id: "price_1", ...scope }, readPriceTerms(line));
}

function computeExample(example: Example): bigint {
  const { usage, request } = example.worked;
  const price = readPrice(example);
  if (usage !== undefined) {
    const {
      service_tier: serviceTier = null,
      search: searches = false,
      cached_input_tokens: cachedInputTokens = 0,
    } = usage;
    const counted = { ...createUsage(usage.input_tokens, usage.output_tokens), cachedInputTokens };
    return computeCharge(billChat(derivePrice(price, { serviceTier, searches }), counted));
  }
  const { size = "", duration = 0, n = 1, input_images: inputImages = 0, ...options } = request ?? {};
  const [width = 0, height = 0] = size.split("x").map(Number);
  const asked: GenerationRequest =
    duration === 0
      ? { type: "image", prompt: "", width, height, count: n, options }
      : { type: "video", prompt: "", durationSeconds: duration, aspectRatio: "16:9", options };
  return priceTask(quoteTask(price, { request: asked, inputImages, audioSeconds: null, budgetAmount: null }));
}

test("the five price pages of the guide pass catalog check and cost what it says", () => {
  const examples = listExamples();
  expect(examples).toHaveLength(5);
  expect(examples.map(computeExample)).toEqual(examples.map(({ worked }) => parseMoney(worked.charge) ?? nano(-1n)));
});

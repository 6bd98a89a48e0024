import type { OwnPriceName } from "../price.ts";
import { compareDecimals, type Decimal, isZero, parseDecimal, scale } from "./exact-decimal.ts";
import {
  asFields,
  asList,
  type Fields,
  type ImportedModel,
  listChatCapabilities,
  listTokenLimits,
  readText,
  type SourceEntry,
  type SourceOptions,
} from "./source-entry.ts";

/** Prices are per million or per token; ours are per thousand. */
const perMillion = -3;
const perToken = 3;

type TokenPriceName = "input_price" | "output_price" | OwnPriceName;

/** The vendor's fields of each of our prices. The dearest one counts: a price for long requests cannot be told apart. */
type PriceNames = Partial<Record<TokenPriceName, RegExp>>;

function readTokenPrices(costs: Fields, names: PriceNames, power: number): ImportedModel["price"]["amounts"] {
  const amounts: Partial<Record<TokenPriceName, Decimal>> = {};
  for (const [ours, pattern] of Object.entries(names) as [TokenPriceName, RegExp][]) {
    for (const [field, value] of Object.entries(costs)) {
      const price = pattern.test(field) ? parseDecimal(value) : null;
      if (price === null) continue;
      const known = amounts[ours];
      const thousand = scale(price, power);
      if (known === undefined || compareDecimals(known, thousand) < 0) amounts[ours] = thousand;
    }
  }
  return amounts;
}

function tokenPrice(amounts: ImportedModel["price"]["amounts"]): ImportedModel["price"] {
  return { billing_type: "token", unit: "1K tokens", amounts };
}

const noPrice = "it has no price per token";

const modelsDevNames: PriceNames = {
  input_price: /(?:^|\.)input$/,
  output_price: /(?:^|\.)output$/,
  cached_input_price: /(?:^|\.)cache_read$/,
  cache_write_5m_price: /(?:^|\.)cache_write$/,
  reasoning_price: /(?:^|\.)reasoning$/,
  audio_input_price: /(?:^|\.)input_audio$/,
  audio_output_price: /(?:^|\.)output_audio$/,
};

/** `https://models.dev/api.json`: vendors with their models, prices per million tokens. */
export function readModelsDev(data: unknown, { vendor }: SourceOptions): SourceEntry[] {
  return Object.entries(asFields(asFields(asFields(data)[vendor]).models)).map(([id, value]): SourceEntry => {
    const model = asFields(value);
    const { input, output } = asFields(model.modalities);
    if (model.status === "deprecated") return { id, reason: "it is deprecated" };
    if (!asList(output).includes("text")) return { id, reason: "its output is not text" };
    const amounts = readTokenPrices(flatten(asFields(model.cost)), modelsDevNames, perMillion);
    if (amounts.input_price === undefined || amounts.output_price === undefined) return { id, reason: noPrice };
    const limit = asFields(model.limit);
    return {
      id,
      model: {
        upstreamModel: id,
        name: readText(model.name) ?? id,
        type: "chat",
        capabilities: listChatCapabilities({
          tools: model.tool_call === true,
          vision: asList(input).includes("image"),
          json_schema: model.structured_output === true,
          reasoning: model.reasoning === true,
        }),
        limits: listTokenLimits(limit.context, limit.output),
        price: tokenPrice(amounts),
      },
    };
  });
}

/** Prices of longer contexts are in objects and lists of the price. */
function flatten(costs: Fields, path = ""): Fields {
  return Object.fromEntries(
    Object.entries(costs).flatMap(([name, value]): [string, unknown][] =>
      typeof value === "object" && value !== null
        ? Object.entries(flatten(value as Fields, `${path}${name}.`))
        : [[path + name, value]],
    ),
  );
}

const litellmNames: PriceNames = {
  input_price: /^input_cost_per_token(?:_above_\w+)?$/,
  output_price: /^output_cost_per_token(?:_above_\w+)?$/,
  cached_input_price: /^cache_read_input_token_cost(?:_above_\d+k_tokens)?$/,
  cache_write_5m_price: /^cache_creation_input_token_cost(?:_above_\d+k_tokens)?$/,
  cache_write_1h_price: /^cache_creation_input_token_cost_above_1hr(?:_above_\d+k_tokens)?$/,
  reasoning_price: /^output_cost_per_reasoning_token$/,
  audio_input_price: /^input_cost_per_audio_token$/,
  audio_output_price: /^output_cost_per_audio_token$/,
};

/** LiteLLM's `model_prices_and_context_window.json`: all vendors in one object, prices per token. */
export function readLitellm(data: unknown, { vendor, now }: SourceOptions): SourceEntry[] {
  return Object.entries(asFields(data)).flatMap(([name, value]): SourceEntry[] => {
    const model = asFields(value);
    if (model.litellm_provider !== vendor) return [];
    const id = name.startsWith(`${vendor}/`) ? name.slice(vendor.length + 1) : name;
    const end = readText(model.deprecation_date);
    if (end !== null && end <= now.toISOString().slice(0, 10)) return [{ id, reason: "it is deprecated" }];
    const amounts = readTokenPrices(model, litellmNames, perToken);
    const common = { upstreamModel: id, name: id };
    if (model.mode === "embedding" && amounts.input_price !== undefined) {
      const { context_window: window } = listTokenLimits(model.max_input_tokens, null);
      return [
        {
          id,
          model: {
            ...{ ...common, type: "embedding", capabilities: ["text_embedding"] },
            limits: window === undefined ? {} : { context_window: window },
            price: tokenPrice({ input_price: amounts.input_price }),
          },
        },
      ];
    }
    if (model.mode !== "chat") return [{ id, reason: `its mode is ${readText(model.mode) ?? "unknown"}` }];
    if (amounts.input_price === undefined || amounts.output_price === undefined) return [{ id, reason: noPrice }];
    return [
      {
        id,
        model: {
          ...{ ...common, type: "chat" },
          capabilities: listChatCapabilities({
            tools: model.supports_function_calling === true,
            vision: model.supports_vision === true,
            json_schema: model.supports_response_schema === true,
            reasoning: model.supports_reasoning === true,
          }),
          limits: listTokenLimits(model.max_input_tokens, model.max_output_tokens),
          price: tokenPrice(amounts),
        },
      },
    ];
  });
}

const openRouterNames: PriceNames = {
  input_price: /^prompt$/,
  output_price: /^completion$/,
  cached_input_price: /^input_cache_read$/,
  cache_write_5m_price: /^input_cache_write$/,
  reasoning_price: /^internal_reasoning$/,
  audio_input_price: /^audio$/,
};
/** Prices that equal the price of other tokens if they are 0. */
const openRouterOwnPrices = ["reasoning_price", "audio_input_price"] as const;

/** `https://openrouter.ai/api/v1/models`: prices per token, as texts. */
export function readOpenRouter(data: unknown): SourceEntry[] {
  return asList(asFields(data).data).map((value): SourceEntry => {
    const model = asFields(value);
    const id = readText(model.id) ?? "";
    const { input_modalities: input, output_modalities: output } = asFields(model.architecture);
    const pricing = asFields(model.pricing);
    const parameters = asList(model.supported_parameters);
    const request = parseDecimal(pricing.request);
    if (!asList(output).includes("text")) return { id, reason: "its output is not text" };
    if (request !== null && !isZero(request)) return { id, reason: "it also has a price per request" };
    const amounts = readTokenPrices(pricing, openRouterNames, perToken);
    if (amounts.input_price === undefined || amounts.output_price === undefined) return { id, reason: noPrice };
    for (const name of openRouterOwnPrices) if (amounts[name] && isZero(amounts[name])) delete amounts[name];
    const top = asFields(model.top_provider);
    return {
      id,
      model: {
        upstreamModel: id,
        name: readText(model.name) ?? id,
        type: "chat",
        capabilities: listChatCapabilities({
          tools: parameters.includes("tools"),
          // A price of its own per image cannot be charged.
          vision: asList(input).includes("image") && !hasOwnImagePrice(pricing),
          json_schema: parameters.includes("structured_outputs"),
          reasoning: parameters.includes("reasoning"),
        }),
        limits: listTokenLimits(model.context_length, top.max_completion_tokens),
        price: tokenPrice(amounts),
      },
    };
  });
}

function hasOwnImagePrice({ image, prompt }: Fields): boolean {
  const [own, usual] = [parseDecimal(image), parseDecimal(prompt)];
  return own !== null && usual !== null && compareDecimals(own, usual) > 0;
}

import { canary, type FakeUpstreams } from "../upstreams/fake-upstreams.ts";
import { writeCatalogOf, writePrice } from "./chat-catalog.ts";

/** Anthropic's price ratios, per thousand tokens: a tenth for reads, a quarter more for writes, twice for an hour. */
const cachePrices = {
  ...{ input_price: "1.00", cached_input_price: "0.10", output_price: "5.00" },
  ...{ cache_write_5m_price: "1.25", cache_write_1h_price: "2.00" },
};

const limits = { context_window: 1_000_000, max_output_tokens: 1000 };

const keyNames = Array.from({ length: 10 }, (_, at) => `FAKE_UPSTREAM_KEY_${at}`);

/** The fakes' API keys, for the gateway's environment. */
export function listKeys(): Record<string, string> {
  return Object.fromEntries(keyNames.map((name) => [name, `sk-${name.toLowerCase()}`]));
}

/**
 * Models of both vendors with caches, with one key (`one-open`, `one-claude`) and with ten (`ten-open`, `ten-claude`).
 */
export function writeKeyedCatalog(upstream: FakeUpstreams): string {
  const define = (id: string, fields: object, count: number) => ({
    id,
    ...fields,
    api_keys: keyNames.slice(0, count).map((name) => `\${${name}}`),
  });
  const open = { kind: "openai-compatible", base_url: upstream.openAiUrl };
  const claude = { kind: "anthropic", base_url: upstream.anthropicUrl, cache_marks: "automatic" };
  const providers = [
    ...[define("one-open", open, 1), define("ten-open", open, 10)],
    ...[define("one-claude", claude, 1), define("ten-claude", claude, 10)],
  ];
  const models = providers.map(({ id }) => ({
    ...{ id, limits },
    routes: [{ provider: id, upstream_model: `${canary}-${id.slice(4)}` }],
  }));
  const prices = models.map(({ id }) => writePrice(id, cachePrices));
  return writeCatalogOf(upstream, { models, providers, prices });
}

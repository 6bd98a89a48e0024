import { stringify } from "yaml";
import { canary, type FakeUpstreams } from "../upstreams/fake-upstreams.ts";

type Fields = Record<string, unknown>;

/** The name of the environment variable with the key to the fake upstreams. */
export const upstreamKeyName = "FAKE_UPSTREAM_KEY";

const capabilities = ["chat", "streaming", "tools", "vision", "json_schema", "reasoning"];
const keys = [`\${${upstreamKeyName}}`];

/** One model for each fake vendor: `open`, `anthropic` and `google`, and one by another package, all at the same price. */
export function writeChatCatalog(upstream: FakeUpstreams): string {
  return writeCatalogOf(upstream, {
    models: [
      { id: "open", routes: [{ provider: "open", upstream_model: `${canary}-open` }] },
      { id: "anthropic", routes: [{ provider: "anthropic", upstream_model: `${canary}-claude` }] },
      { id: "google", routes: [{ provider: "google", upstream_model: `${canary}-gemini` }] },
      { id: "packaged", routes: [{ provider: "packaged", upstream_model: `${canary}-packaged` }] },
    ],
  });
}

/**
 * A catalog of the given models with the providers `open`, `anthropic`, `google` and `packaged` on the fakes, plus any
 * given ones. By default a model costs 1.00 per thousand input tokens, 0.50 if cached, and 2.00 per thousand output
 * tokens.
 */
export function writeCatalogOf(
  upstream: FakeUpstreams,
  content: { models: readonly Fields[]; prices?: readonly Fields[]; providers?: readonly Fields[] },
): string {
  const models: Fields[] = content.models.map((model) => ({
    name: String(model.id),
    type: "chat",
    capabilities,
    limits: { context_window: 128_000, max_output_tokens: 1000 },
    // All output of the fakes is visible.
    ...((model.type ?? "chat") === "chat" ? { hold: "metered" } : {}),
    ...model,
  }));
  return stringify({
    currency: "USD",
    providers: [
      { id: "open", kind: "openai-compatible", base_url: upstream.openAiUrl, api_keys: keys },
      { id: "anthropic", kind: "anthropic", base_url: upstream.anthropicUrl, api_keys: keys },
      { id: "google", kind: "google", base_url: upstream.geminiUrl, api_keys: keys },
      {
        id: "packaged",
        kind: "ai-sdk",
        package: "@ai-sdk/openai-compatible",
        base_url: upstream.openAiUrl,
        api_keys: keys,
      },
      ...(content.providers ?? []),
    ],
    models,
    prices: content.prices ?? models.map((model) => writePrice(String(model.id))),
  });
}

/** For answers of megabytes: a cap above their length, and a price that an account can pay for it. */
export const wideLimits = { context_window: 200_000_000, max_output_tokens: 100_000_000 };
export const widePrice = { input_price: "0.000001", cached_input_price: "0.000001", output_price: "0.000001" };

export function writePrice(model: string, more: Fields = {}): Fields {
  const price = { input_price: "1.00", cached_input_price: "0.50", output_price: "2.00" };
  return { model, billing_type: "token", unit: "1K tokens", ...price, ...more };
}

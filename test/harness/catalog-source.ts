import { stringify } from "yaml";

type Fields = Record<string, unknown>;

/** The text of a catalog with the given models (chat by default) and prices, all on one provider. */
export function writeCatalog(content: {
  models: readonly Fields[];
  prices: readonly Fields[];
  currency?: string;
}): string {
  return stringify({
    currency: content.currency ?? "USD",
    providers: [{ id: "canary-vendor", kind: "openai-compatible", base_url: "https://canary.example.com/v1" }],
    models: content.models.map((model) => ({
      name: String(model.id),
      type: "chat",
      capabilities: ["chat"],
      routes: [{ provider: "canary-vendor", upstream_model: "canary-model" }],
      ...model,
    })),
    prices: content.prices.map((price) => ({
      ...(price.billing_type === undefined
        ? { billing_type: "token", unit: "1K tokens", input_price: "0.10", output_price: "0.20" }
        : {}),
      ...price,
    })),
  });
}

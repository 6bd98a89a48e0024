import { stringify } from "yaml";

/** A catalog of many chat models with texts as long as real ones. */
export function writeLargeCatalog(count: number): string {
  const ids = Array.from({ length: count }, (_, index) => `house/model-${index}`);
  return stringify({
    currency: "USD",
    providers: [{ id: "sandbox", kind: "sandbox" }],
    models: ids.map((id, index) => ({
      id,
      name: `Model ${index}`,
      type: "chat",
      description: "Writes, reads and reasons about text of any length, in most languages that people write.",
      advantages: ["Fast answers", "Careful with facts"],
      scenarios: ["Support", "Writing", "Code"],
      capabilities: ["chat", "streaming", "tools"],
      limits: { context_window: 128_000, max_output_tokens: 16_384 },
      routes: [{ provider: "sandbox", upstream_model: "chat" }],
    })),
    prices: ids.map((model) => ({
      model,
      billing_type: "token",
      unit: "1K tokens",
      input_price: "0.00015",
      output_price: "0.0006",
    })),
  });
}

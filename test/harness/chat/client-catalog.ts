import { canary, type FakeUpstreams } from "../upstreams/fake-upstreams.ts";
import { writeCatalogOf } from "./chat-catalog.ts";

/** Every kind of route: the three vendors' APIs, one through another package, and the sandbox. */
export const clientModels = ["open", "anthropic", "google", "packaged", "sandbox-chat"] as const;

/** Those served by a fake vendor. */
export const vendorModels = ["open", "anthropic", "google", "packaged"] as const;
export type VendorModel = (typeof vendorModels)[number];

/**
 * The models of the chat catalog and the sandbox, and of each vendor one that thinks: `thinking-anthropic` by a budget,
 * `thinking-google` with calls that Gemini signs.
 */
export function writeClientCatalog(upstream: FakeUpstreams): string {
  const limits = { context_window: 128_000, max_output_tokens: 4000 };
  return writeCatalogOf(upstream, {
    providers: [{ id: "sandbox", kind: "sandbox" }],
    models: [
      { id: "open", routes: [{ provider: "open", upstream_model: `${canary}-open` }] },
      { id: "anthropic", routes: [{ provider: "anthropic", upstream_model: `${canary}-claude` }] },
      { id: "google", routes: [{ provider: "google", upstream_model: `${canary}-gemini` }] },
      { id: "packaged", routes: [{ provider: "packaged", upstream_model: `${canary}-packaged` }] },
      { id: "sandbox-chat", routes: [{ provider: "sandbox", upstream_model: "chat" }] },
      {
        id: "thinking-anthropic",
        limits,
        routes: [{ provider: "anthropic", upstream_model: `${canary}-claude-opus-4-1` }],
      },
      { id: "thinking-google", limits, routes: [{ provider: "google", upstream_model: `${canary}-gemini-3-pro` }] },
    ],
  });
}

/** An image of one pixel. */
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const pixelUrl = `data:image/png;base64,${pixel}`;

export const citySchema = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false,
};

/** A tool in OpenAI's form whose only argument is a city. */
export function offerTool(name: string) {
  return {
    type: "function" as const,
    function: { name, description: `Answers with the ${name} of a city`, parameters: citySchema },
  };
}

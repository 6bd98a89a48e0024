// Vendors to play with: `node scripts/fake-upstream.ts --port 4300`, then the printed catalog into a file, and
// FAKE_UPSTREAM_KEY=any npm run sluice -- catalog apply that-file.yaml
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { startFakeUpstreams } from "../test/harness/fake-upstreams.ts";
import { faultWords } from "../test/harness/upstreams/fault-words.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "4300" } } });
const fake = await startFakeUpstreams({ port: Number(values.port) });

const providers = [
  { id: "fake-openai", kind: "openai-compatible", base_url: fake.openAiUrl, model: "gpt-5-mini" },
  { id: "fake-anthropic", kind: "anthropic", base_url: fake.anthropicUrl, model: "claude-sonnet-4-5" },
  { id: "fake-google", kind: "google", base_url: fake.geminiUrl, model: "gemini-2.5-flash" },
];

const catalog = {
  currency: "USD",
  providers: providers.map(({ id, kind, base_url }) => ({ id, kind, base_url, api_keys: ["${FAKE_UPSTREAM_KEY}"] })),
  models: providers.map(({ id, model }) => ({
    id: `${id}-chat`,
    name: `A chat model of ${id}`,
    type: "chat",
    capabilities: ["chat", "streaming", "tools", "vision", "json_schema", "reasoning"],
    limits: { context_window: 128_000, max_output_tokens: 16_384 },
    routes: [{ provider: id, upstream_model: model }],
  })),
  prices: providers.map(({ id }) => ({
    model: `${id}-chat`,
    billing_type: "token",
    unit: "1K tokens",
    input_price: "0.00015",
    cached_input_price: "0.000075",
    output_price: "0.0006",
  })),
};

for (const { kind, base_url } of providers) console.log(`# ${kind.padEnd(18)} ${base_url}`);
console.log(`\n${stringify(catalog)}`);
console.log("# What a prompt may contain to make the answer go wrong, as in: Hello <<fault:cut=2>>");
for (const { word, means } of faultWords) console.log(`#   ${`<<fault:${word}>>`.padEnd(44)} ${means}`);

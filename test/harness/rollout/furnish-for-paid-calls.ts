import { randomBytes } from "node:crypto";
import { stringify } from "yaml";
import { applyCatalog } from "../../../src/features/catalog/index.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import { createIdSource } from "../../../src/lib/ids.ts";
import { createDatabase, type Database } from "../../../src/platform/database/database.ts";
import { createPaidCaller } from "./paid-caller.ts";

/** The environment that a gateway needs to call the upstream. */
export const upstreamKey = { ROLLOUT_UPSTREAM_KEY: "sk-rollout" };

/** Two models at the upstream, and an account with money; returns its key. */
export async function furnishForPaidCalls(url: string, upstreamUrl: string): Promise<string> {
  const database = createDatabase({
    address: { connectionString: url },
    connectionsMax: 1,
    onConnectionError: () => {},
  });
  try {
    await applyModels(database, upstreamUrl);
    return await createPaidCaller(database);
  } finally {
    await database.destroy();
  }
}

async function applyModels(database: Database, baseUrl: string): Promise<void> {
  const clock = systemClock;
  const routes = [{ provider: "paced", upstream_model: "paced" }];
  const catalog = {
    currency: "USD",
    providers: [{ id: "paced", kind: "openai-compatible", base_url: baseUrl, api_keys: ["${ROLLOUT_UPSTREAM_KEY}"] }],
    models: [
      {
        ...{ id: "chat", name: "Chat", type: "chat", capabilities: ["chat", "streaming"], routes },
        limits: { context_window: 8000, max_output_tokens: 100 },
      },
      {
        ...{ id: "voice", name: "Voice", type: "speech", capabilities: ["text_to_speech"], routes },
        limits: { voices: ["alloy"], response_formats: ["pcm"], max_prompt_length: 100 },
      },
    ],
    prices: [
      { model: "chat", billing_type: "token", unit: "1K tokens", input_price: "0.01", output_price: "0.01" },
      { model: "voice", billing_type: "per_call", unit: "1K characters", price: "0.01" },
    ],
  };
  const surroundings = {
    currency: "USD",
    planIds: new Set<string>(),
    accountIds: new Set<string>(),
    hasSecret: () => true,
    findPackageFault: () => null,
  };
  const ids = createIdSource({ clock, randomBytes });
  const outcome = await applyCatalog({ database, clock, ids, surroundings }, stringify(catalog));
  if (outcome.kind === "refused") throw new Error(JSON.stringify(outcome.problems));
}

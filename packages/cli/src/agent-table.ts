import { join } from "node:path";
import type { Environment } from "./environment.ts";

/** Settings of a client, as nested objects. */
export type Settings = { [name: string]: string | boolean | number | Settings };

/** What a client needs to call this server. */
export type AgentOrder = {
  apiUrl: string;
  key: string;
  model: string;
  /** The model's limits, if it has any. */
  limits: { context_window?: number; max_output_tokens?: number };
};

export type Agent = {
  title: string;
  format: "json" | "toml";
  findFile(environment: Environment): string;
  describe(order: AgentOrder): Settings;
  /** Whether an earlier setup wrote the settings in the file, so that this one may replace them. */
  isOurs(existing: Settings, order: AgentOrder): boolean;
  /** How to start it. */
  start: string;
};

/** The name of our entry among a client's providers. */
export const providerName = "sluice";

export const agents: Readonly<Record<string, Agent>> = {
  "claude-code": {
    title: "Claude Code",
    format: "json",
    findFile: ({ agentFolders }) => join(agentFolders.claude, "settings.json"),
    describe: (order) => ({
      env: {
        ANTHROPIC_BASE_URL: findRoot(order),
        ANTHROPIC_AUTH_TOKEN: order.key,
        ANTHROPIC_MODEL: order.model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: order.model,
      },
    }),
    isOurs: ({ env }, order) => isSettings(env) && env.ANTHROPIC_BASE_URL === findRoot(order),
    start: "claude",
  },
  codex: {
    title: "Codex",
    format: "toml",
    findFile: ({ agentFolders }) => join(agentFolders.codex, "config.toml"),
    describe: ({ apiUrl, key, model }) => ({
      model,
      model_provider: providerName,
      web_search: "disabled",
      model_providers: {
        [providerName]: {
          name: "Sluice",
          base_url: apiUrl,
          experimental_bearer_token: key,
          wire_api: "responses",
          supports_websockets: false,
        },
      },
    }),
    isOurs: ({ model_provider: provider }) => provider === providerName,
    start: "codex",
  },
  opencode: {
    title: "opencode",
    format: "json",
    findFile: ({ agentFolders }) => join(agentFolders.opencode, "opencode.json"),
    describe: ({ apiUrl, key, model, limits }) => ({
      $schema: "https://opencode.ai/config.json",
      model: `${providerName}/${model}`,
      provider: {
        [providerName]: {
          npm: "@ai-sdk/openai-compatible",
          name: "Sluice",
          options: { baseURL: apiUrl, apiKey: key },
          models: { [model]: { name: model, ...describeLimit(limits) } },
        },
      },
    }),
    isOurs: ({ model }) => typeof model === "string" && model.startsWith(`${providerName}/`),
    start: "opencode",
  },
};

export function isSettings(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Claude Code appends the version itself. */
function findRoot({ apiUrl }: AgentOrder): string {
  return apiUrl.replace(/\/v1$/, "");
}

/** Agents request up to 32 000 output tokens unless they know the limit. */
function describeLimit({ context_window: context, max_output_tokens: output }: AgentOrder["limits"]): Settings {
  return context === undefined || output === undefined ? {} : { limit: { context, output } };
}

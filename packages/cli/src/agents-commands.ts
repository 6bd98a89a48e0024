import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Agent, type AgentOrder, agents, isSettings, providerName, type Settings } from "./agent-table.ts";
import type { ApiClient } from "./api-client.ts";
import { chooseModel } from "./choose-model.ts";
import { CliError, type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandDefinition, CommandInput } from "./command-definition.ts";
import { editToml, readTomlTop } from "./edit-toml.ts";
import { mergeSettings } from "./merge-settings.ts";
import { openApi } from "./open-api.ts";

export const agentsCommands: readonly CommandDefinition[] = [
  {
    name: "agents setup",
    summary: "Configure a coding agent to use this server.",
    details: `Writes the server, your key and a model into the agent's own settings file, which only you can read afterwards. Other
settings stay as they are. If one of them is in the way, nothing is written.`,
    words: { shown: "<agent>", min: 1, max: 1, choices: Object.keys(agents) },
    options: {
      model: { placeholder: "id", explains: "The model to use. Default: the first chat model." },
      print: { explains: "Show the settings without writing them." },
    },
    examples: [
      { line: "sluice agents setup claude-code", does: "~/.claude/settings.json" },
      { line: "sluice agents setup codex --model sandbox-chat", does: "~/.codex/config.toml" },
      { line: "sluice agents setup opencode --print", does: "show ~/.config/opencode/opencode.json" },
    ],
    run: setUp,
  },
];

async function setUp(input: CommandInput): Promise<ExitCode> {
  const { words, options, terminal, environment, interruption } = input;
  const { profile, api } = await openApi(input);
  const agent = agents[words[0] ?? ""] as Agent;
  const { signal } = interruption;
  const model = await chooseModel(api, { given: options.text("model"), type: "chat", signal });
  const limits = await getLimits(api, model, signal);
  const order: AgentOrder = { apiUrl: profile.apiUrl, key: profile.key, model, limits };
  const file = agent.findFile(environment);
  const isWritten = !options.has("print");
  if (isWritten) await writeMerged(file, mergeText(agent, order, { file, text: await readText(file) }));
  const shown = agent.describe({ ...order, key: `…${profile.key.slice(-4)}` });
  if (terminal.isJson) terminal.printJson({ agent: words[0], file, is_written: isWritten, settings: shown });
  else {
    const { paint } = terminal;
    terminal.print(isWritten ? `${paint.green("✓")} Wrote these settings to ${file}:` : `Settings for ${file}:`);
    terminal.print(`\n${present(agent, shown)}\n`);
    if (isWritten) terminal.print(`Start ${agent.title} with: ${agent.start}`);
  }
  return exitCodes.done;
}

/** Also checks that the model exists. */
async function getLimits(api: ApiClient, model: string, signal: AbortSignal): Promise<AgentOrder["limits"]> {
  const path = `/models/${model}`;
  const { limits = {} } = await api.ask<{ limits?: AgentOrder["limits"] }>({ method: "GET", path, signal });
  return limits;
}

type KnownFile = { file: string; text: string };

function mergeText(agent: Agent, order: AgentOrder, known: KnownFile): string {
  const wanted = agent.describe(order);
  return agent.format === "json" ? mergeJson(agent, order, wanted, known) : mergeToml(agent, order, wanted, known);
}

function mergeJson(agent: Agent, order: AgentOrder, wanted: Settings, { file, text }: KnownFile): string {
  const existing = parseJson(file, text);
  const { settings, conflicts } = mergeSettings(existing, wanted, agent.isOurs(existing, order));
  refuseConflicts(file, conflicts);
  return `${JSON.stringify(settings, null, 2)}\n`;
}

function mergeToml(agent: Agent, order: AgentOrder, wanted: Settings, { file, text }: KnownFile): string {
  const { model_providers: providers, ...top } = wanted;
  const existing = readTomlTop(text, Object.keys(top));
  refuseConflicts(file, mergeSettings(existing, top, agent.isOurs(existing, order)).conflicts);
  const provider = isSettings(providers) ? providers[providerName] : undefined;
  const settings = isSettings(provider) ? provider : {};
  return editToml(text, top, { name: `model_providers.${providerName}`, settings });
}

function parseJson(file: string, text: string): Settings {
  try {
    const value: unknown = text.trim() === "" ? {} : JSON.parse(text);
    if (isSettings(value)) return value;
  } catch {
    // Explained below.
  }
  throw new CliError(`${file} is not plain JSON, so it can't be edited without losing something.`, {
    remedy: "Add the settings by hand. Show them with --print.",
  });
}

function refuseConflicts(file: string, conflicts: readonly string[]): void {
  if (conflicts.length === 0) return;
  throw new CliError(`${file} already has other values for ${conflicts.join(", ")}. Nothing was written.`, {
    remedy: "Remove them and run this again, or add the settings by hand: --print shows them.",
  });
}

function present({ format }: Agent, settings: Settings): string {
  if (format === "json") return JSON.stringify(settings, null, 2);
  const { model_providers: providers, ...top } = settings;
  const provider = isSettings(providers) ? providers[providerName] : undefined;
  const table = { name: `model_providers.${providerName}`, settings: isSettings(provider) ? provider : {} };
  return editToml("", top, table).trimEnd();
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw new CliError(`Cannot read ${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** Written atomically with mode 0600, because the file contains a key. A symbolic link stays one. */
async function writeMerged(file: string, text: string): Promise<void> {
  const path = await realpath(file).catch(() => file);
  const draft = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(draft, text, { mode: 0o600, flag: "wx" });
    await chmod(draft, 0o600);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    const message = `Cannot write ${file}: ${error instanceof Error ? error.message : error}`;
    throw new CliError(message, { remedy: "Nothing was changed. Check the folder's permissions.", cause: error });
  }
}

import type { ExitCode } from "./cli-error.ts";
import { exitCodes } from "./cli-error.ts";
import type { CommandDefinition, CommandInput } from "./command-definition.ts";
import { openApi } from "./open-api.ts";
import { presentTable } from "./present-table.ts";

type Balance = {
  currency: string;
  available_balance: string;
  frozen_balance: string;
  cash_balance: string;
  gift_balance: string;
  quotas: Record<string, number>;
  plan: { name: string; expires_at: string | null } | null;
};

type Model = {
  id: string;
  name: string;
  type: string;
  status: string;
  description: string;
  capabilities: string[];
  limits?: Record<string, unknown>;
};

const modelTypes = ["chat", "image", "video", "avatar", "drama", "speech", "embedding", "transcription"] as const;

export const accountCommands: readonly CommandDefinition[] = [
  {
    name: "whoami",
    summary: "Show the current server, key and balance.",
    examples: [{ line: "sluice whoami", does: "the server you signed in to last" }],
    run: showWho,
  },
  {
    name: "balance",
    summary: "Show the account's balance, quotas and plan.",
    examples: [{ line: "sluice balance --json | jq -r .available_balance", does: "the balance, for a script" }],
    run: showBalance,
  },
  {
    name: "models",
    summary: "List the available models, or show one.",
    words: { shown: "[model]", min: 0, max: 1 },
    options: { type: { placeholder: "type", choices: modelTypes, explains: "Only models of this type." } },
    examples: [
      { line: "sluice models --type video", does: "video models only" },
      { line: "sluice models sandbox-video", does: "one model's capabilities and limits" },
    ],
    run: showModels,
  },
];

async function showWho(input: CommandInput): Promise<ExitCode> {
  const { terminal, interruption } = input;
  const { profile, api } = await openApi(input);
  const { signal } = interruption;
  const balance = await api.ask<Balance>({ method: "GET", path: "/balance", signal });
  const lastFour = profile.key.slice(-4);
  if (terminal.isJson) {
    terminal.printJson({ site: profile.site, api_url: profile.apiUrl, last_four: lastFour, balance });
    return exitCodes.done;
  }
  terminal.print(`${profile.site}, with the key …${lastFour}`);
  terminal.print(`${balance.available_balance} ${balance.currency} available`);
  return exitCodes.done;
}

async function showBalance(input: CommandInput): Promise<ExitCode> {
  const { terminal, interruption } = input;
  const { api } = await openApi(input);
  const balance = await api.ask<Balance>({ method: "GET", path: "/balance", signal: interruption.signal });
  if (terminal.isJson) {
    terminal.printJson(balance);
    return exitCodes.done;
  }
  const quotas = Object.entries(balance.quotas).filter(([, left]) => left > 0);
  const rows = [
    ["available", `${balance.available_balance} ${balance.currency}`],
    ["on hold", `${balance.frozen_balance} ${balance.currency}`],
    ["cash", `${balance.cash_balance} ${balance.currency}`],
    ["gifts", `${balance.gift_balance} ${balance.currency}`],
    ...quotas.map(([kind, left]) => [`quota: ${kind}`, String(left)]),
    ...(balance.plan === null ? [] : [["plan", presentPlan(balance.plan)]]),
  ];
  terminal.print(presentTable(["", ""], rows, terminal.paint).trimStart());
  return exitCodes.done;
}

function presentPlan({ name, expires_at }: NonNullable<Balance["plan"]>): string {
  return expires_at === null ? name : `${name}, until ${expires_at}`;
}

async function showModels(input: CommandInput): Promise<ExitCode> {
  const { terminal, options, words, interruption } = input;
  const { api } = await openApi(input);
  const { signal } = interruption;
  const [id] = words;
  if (id !== undefined) {
    const model = await api.ask<Model>({ method: "GET", path: `/models/${encodeURIComponent(id)}`, signal });
    if (terminal.isJson) terminal.printJson(model);
    else terminal.print(presentTable(["", ""], describeModel(model), terminal.paint).trimStart());
    return exitCodes.done;
  }
  const type = options.text("type");
  const path = type === undefined ? "/models" : `/models?type=${type}`;
  const list = await api.ask<{ data: Model[] }>({ method: "GET", path, signal });
  if (terminal.isJson) terminal.printJson(list);
  else if (list.data.length === 0) terminal.print("No models are available to you.");
  else {
    const rows = list.data.map((model) => [model.id, model.type, model.status, model.name]);
    terminal.print(presentTable(["MODEL", "TYPE", "STATUS", "NAME"], rows, terminal.paint));
  }
  return exitCodes.done;
}

function describeModel(model: Model): string[][] {
  const limits = Object.entries(model.limits ?? {});
  return [
    ["id", model.id],
    ["name", model.name],
    ["type", model.type],
    ["status", model.status],
    ["description", model.description],
    ["capabilities", model.capabilities.join(", ")],
    ...limits.map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : String(value)]),
  ];
}

import { readFileSync } from "node:fs";
import { listAccounts, listPlans } from "../features/accounts/index.ts";
import { recordCatalog } from "../features/admin/index.ts";
import {
  applyCatalog,
  type CatalogOutcome,
  draftCatalog,
  exportCatalog,
  findCatalog,
  previewCatalog,
} from "../features/catalog/index.ts";
import { simulateCatalog } from "../features/simulation/index.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { presentReference } from "../platform/config/secrets.ts";
import { type Database, inTransaction } from "../platform/database/database.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import { findPackageFault } from "../providers/ai-sdk/load-package.ts";
import { catalogImportCommand } from "./catalog-import-command.ts";
import type { Command, CommandResult } from "./command.ts";
import { getActing } from "./get-acting.ts";
import { loadSecrets } from "./load-secrets.ts";
import { createWrongValue } from "./option-values.ts";
import { presentSimulation } from "./present-simulation.ts";
import { systemDependencies } from "./system-dependencies.ts";
import { withDatabase } from "./with-database.ts";

const checkCommand: Command = {
  name: "catalog check",
  summary: "Validate a catalog file and list every error with its line and column. Changes nothing.",
  positionals: ["file"],
  run: ({ positionals: [path = ""], terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const outcome = await previewCatalog(await gatherDependencies(database, settings), readFile(path));
      return presentOutcome(path, outcome, () => "The catalog is valid.");
    }),
};

const diffCommand: Command = {
  name: "catalog diff",
  summary: "Show what applying a catalog file would change. Changes nothing.",
  positionals: ["file"],
  run: ({ positionals: [path = ""], terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const outcome = await previewCatalog(await gatherDependencies(database, settings), readFile(path));
      return presentOutcome(path, outcome, ({ changes }) => changes.join("\n") || "No changes.");
    }),
};

const applyCommand: Command = {
  name: "catalog apply",
  summary: "Apply a catalog file atomically. Gateways serve it within a second.",
  positionals: ["file"],
  run: ({ positionals: [path = ""], terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const dependencies = await gatherDependencies(database, settings);
      const outcome = await inTransaction(database, async (tx) => {
        const applied = await applyCatalog({ ...dependencies, database: tx }, readFile(path));
        await recordCatalog(tx, applied, { acting: getActing(), reason: null });
        return applied;
      });
      return presentOutcome(path, outcome, ({ version, changes, isTextStored }) =>
        changes.length === 0
          ? `No changes. Version ${version} stays active.${isTextStored ? " The file's comments are stored." : ""}`
          : `${changes.join("\n")}\n\nVersion ${version} is active.`,
      );
    }),
};

const dayMs = 24 * 60 * 60 * 1000;
const defaultDays = "30d";
const customersMax = 20;

const simulateCommand: Command = {
  name: "catalog simulate",
  summary: "Show what past charges would have been under a catalog file. Changes nothing.",
  positionals: ["file"],
  options: {
    since: { placeholder: "days", description: `How many days back, such as 7d. Default: ${defaultDays}.` },
  },
  run: ({ positionals: [path = ""], options, terminal }) =>
    withDatabase(terminal, async (database, settings) => {
      const [, days] = /^(\d{1,4})d$/.exec(options.since ?? defaultDays) ?? [];
      if (days === undefined) throw createWrongValue("since", "a number of days, such as 30d");
      const { outcome, draft } = await draftCatalog(await gatherDependencies(database, settings), readFile(path));
      if (outcome.kind === "refused" || draft === null) return presentOutcome(path, outcome, () => "");
      const now = systemDependencies.clock.now();
      const since = new Date(now.getTime() - Number(days) * dayMs);
      const planIds = new Map((await listAccounts(database)).map(({ id, planId }) => [id, planId]));
      const simulated = await simulateCatalog(database, draft, { since, now, planIds });
      return presentSimulation(simulated, { since, currency: settings.currency, customersMax });
    }),
};

const exportCommand: Command = {
  name: "catalog export",
  summary: "Print the active catalog as a file that you can edit and apply.",
  run: ({ terminal }) =>
    withDatabase(terminal, async (database) => {
      const catalog = await findCatalog(database);
      if (catalog === null)
        throw new OperatorError("There is no catalog yet.", "Apply one: npm run -s sluice -- catalog apply <file>");
      const text = exportCatalog(catalog);
      return { json: { version: catalog.version, catalog: text }, text: text.trimEnd() };
    }),
};

export const catalogCommands: readonly Command[] = [
  checkCommand,
  diffCommand,
  applyCommand,
  simulateCommand,
  exportCommand,
  catalogImportCommand,
];

async function gatherDependencies(database: Database, settings: Settings) {
  const plans = await listPlans(database);
  const accounts = await listAccounts(database);
  const secrets = await loadSecrets(database, settings);
  const surroundings = {
    currency: settings.currency,
    planIds: new Set(plans.map(({ id }) => id)),
    plans,
    accountIds: new Set<string>(accounts.map(({ id }) => id)),
    hasSecret: (name: string) => secrets.find(presentReference(name)) !== null,
    findPackageFault: (packageName: string) => findPackageFault({ packageName, packagesFolder: settings.packages_dir }),
  };
  return { ...systemDependencies, database, surroundings };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new OperatorError(`Cannot read the file ${path}.`, "Check its name and permissions.", {
      cause: error,
    });
  }
}

function presentOutcome(
  path: string,
  outcome: CatalogOutcome,
  present: (accepted: Extract<CatalogOutcome, { kind: "accepted" }>) => string,
): CommandResult {
  if (outcome.kind === "accepted") {
    const { version, changes, warnings } = outcome;
    const text = [...warnings.map((one) => `warning: ${presentProblem(path, one)}`), present(outcome)].join("\n");
    return { json: { ok: true, version, changes, warnings }, text };
  }
  const lines = outcome.problems.map((problem) => presentProblem(path, problem));
  return { json: { ok: false, problems: outcome.problems }, text: lines.join("\n"), hasFailed: true };
}

function presentProblem(
  path: string,
  { line, column, message }: { line: number; column: number; message: string },
): string {
  return `${path}:${line}:${column}  ${message}`;
}

import { readFileSync, writeFileSync } from "node:fs";
import {
  type Decimal,
  type ImportOutcome,
  importModels,
  importSources,
  modelTypes,
  parseDecimal,
} from "../features/catalog/index.ts";
import { systemClock } from "../lib/clock.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Command, CommandResult } from "./command.ts";
import { createWrongValue } from "./option-values.ts";

export const catalogImportCommand: Command = {
  name: "catalog import",
  summary: `Show how a vendor's list of models would change a catalog file. Sources: ${importSources.join(", ")}.`,
  positionals: ["source", "file"],
  options: {
    catalog: { placeholder: "file", description: "The catalog file to change.", isRequired: true },
    provider: { placeholder: "id", description: "The provider in it that serves the models.", isRequired: true },
    markup: { placeholder: "factor", description: "Your prices are the vendor's times this; default 1." },
    models: { placeholder: "names", description: "Only these, comma-separated, by the vendor's names." },
    vendor: { placeholder: "name", description: "The vendor's name in the list; default: the provider's id." },
    type: { placeholder: "word", description: "For replicate: image, video or avatar." },
    price: { placeholder: "amount", description: "For replicate: the vendor's price per image, video or avatar." },
    write: { placeholder: null, description: "Write the catalog file. Apply it with catalog apply." },
  },
  async run({ positionals: [source = "", path = ""], options }) {
    const known = importSources.find((name) => name === source);
    if (known === undefined) {
      throw new OperatorError(`There is no source ${source}.`, `Use one of: ${importSources.join(", ")}.`);
    }
    const { catalog: catalogPath = "", provider = "", models, vendor = provider } = options;
    const type = readType(options.type);
    const price = options.price === undefined ? undefined : readFactor("price", options.price);
    const outcome = importModels({
      ...{ source: known, list: readText(path), catalog: readText(catalogPath), provider },
      markup: readFactor("markup", options.markup ?? "1"),
      models: models === undefined ? null : new Set(models.split(",").map((name) => name.trim())),
      options: {
        ...{ vendor, now: systemClock.now() },
        ...(type === undefined ? {} : { type }),
        ...(price === undefined ? {} : { price }),
      },
    });
    const isWritten = options.write !== undefined && outcome.kind === "planned";
    if (isWritten) writeFileSync(catalogPath, outcome.catalog);
    return presentImport(catalogPath, outcome, isWritten);
  },
};

function readFactor(option: string, text: string): Decimal {
  const factor = parseDecimal(text);
  if (factor === null) throw createWrongValue(option, "a decimal of 0 or more, such as 1.2");
  return factor;
}

function readType(text: string | undefined): (typeof modelTypes)[number] | undefined {
  if (text === undefined) return undefined;
  const type = modelTypes.find((name) => name === text);
  if (type === undefined) throw createWrongValue("type", `one of ${modelTypes.join(", ")}`);
  return type;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new OperatorError(`Cannot read the file ${path}.`, "Check its name and permissions.", { cause: error });
  }
}

function presentImport(path: string, outcome: ImportOutcome, isWritten: boolean): CommandResult {
  if (outcome.kind === "refused") throw new OperatorError(outcome.message, outcome.remedy);
  if (outcome.kind === "malformed") {
    const lines = outcome.problems.map(({ line, column, message }) => `${path}:${line}:${column}  ${message}`);
    return { json: { ok: false, problems: outcome.problems }, text: lines.join("\n"), hasFailed: true };
  }
  const { added, changed, gone, leftOut } = outcome;
  const counts = `${added.length} added, ${changed.length} changed, ${gone.length} gone, ${leftOut.length} left out.`;
  const next = isWritten ? `Written to ${path}. See: catalog diff ${path}` : "Nothing is written. Add --write.";
  const text = [
    ...added.map((line) => `+ ${line}`),
    ...changed.map((line) => `~ ${line}`),
    ...gone.map((id) => `- ${id}: not in the list. Remove it, or its route, from the file.`),
    ...presentLeftOut(leftOut),
    `${counts} ${next}`,
  ].join("\n");
  return { json: { ok: true, isWritten, added, changed, gone, left_out: leftOut }, text };
}

const namesShown = 5;

/** By reason, because a list may have hundreds. */
function presentLeftOut(leftOut: readonly { id: string; reason: string }[]): string[] {
  return [...Map.groupBy(leftOut, ({ reason }) => reason)].map(([reason, models]) => {
    const names = models.slice(0, namesShown).map(({ id }) => id);
    const more = models.length > namesShown ? ` and ${models.length - namesShown} more` : "";
    return `! ${models.length} left out, because ${reason}: ${names.join(", ")}${more}`;
  });
}

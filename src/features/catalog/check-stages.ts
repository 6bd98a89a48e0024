import type { CatalogFile, ModelEntry, PriceLine, ReportProblem } from "./catalog-file.ts";
import { capabilitiesByType, capabilityByStage, dramaStages, listStageModels, listStages } from "./model.ts";

type StageCheck = { file: CatalogFile; report: ReportProblem };
type Path = readonly (string | number)[];

/** Whether a drama names a fitting model for all that it does, and a price for all that it offers. */
export function checkStages(model: ModelEntry, path: Path, { file, report }: StageCheck): void {
  if (model.type !== "drama") {
    if (model.stages !== undefined) report([...path, "stages"], "Only drama models have stages.");
    return;
  }
  if ((model.routes ?? []).length > 0) {
    report([...path, "routes"], "A drama model has no routes: the models of its stages do the work.");
  }
  checkCoverage(model, path, report);
  checkStageModels(model, path, { file, report });
  checkStagePrices(model, path, { file, report });
}

/** Every stage up to the last that is offered, and none after it. */
function checkCoverage({ id, capabilities, stages = {} }: ModelEntry, path: Path, report: ReportProblem): void {
  const needed = listStages(capabilities);
  const missing = needed.filter((stage) => stages[stage] === undefined);
  if (missing.length > 0) {
    report(
      [...path, "stages"],
      `${id} needs these stages too: ${missing.join(", ")}. Each goes on from the one before.`,
    );
  }
  for (const stage of dramaStages) {
    if (stages[stage] === undefined || needed.includes(stage)) continue;
    report([...path, "stages", stage], `${id} does not have the capability ${capabilityByStage[stage]}.`);
  }
}

function checkStageModels(drama: ModelEntry, path: Path, { file, report }: StageCheck): void {
  for (const { stage, type, modelId } of listStageModels(drama.stages)) {
    const place = [...path, "stages", stage, type];
    const model = file.models.find(({ id }) => id === modelId);
    if (model === undefined) {
      report(place, `There is no model ${modelId} in this file.`);
    } else if (model.type !== type) {
      report(place, `The type of ${modelId} is ${model.type}, not ${type}.`);
    } else if (type === "chat" && !model.capabilities.includes("json_schema")) {
      report(place, `${modelId} is asked for documents: it needs the capability json_schema.`);
    } else if (type === "speech" && model.limits?.voices === undefined) {
      report(place, `${modelId} has no limits.voices, of which each role is given one.`);
    }
  }
}

/** Whoever is offered the model has a price for all that it offers: one for the capability, or one that names none. */
function checkStagePrices({ id, capabilities }: ModelEntry, path: Path, { file, report }: StageCheck): void {
  const lines = file.prices.filter(({ model }) => model === id);
  const offered = capabilitiesByType.drama.filter((capability) => capabilities.includes(capability));
  const problems = [everybody, ...lines].flatMap((audience) => {
    const visible = lines.filter((line) => mayHoldFor(line, audience));
    if (visible.length === 0 && lines.length > 0) return [];
    const priced = new Set(visible.map(({ capability }) => capability));
    const missing = priced.has(undefined) ? [] : offered.filter((capability) => !priced.has(capability));
    return missing.length === 0 ? [] : [`There is no price for ${missing.join(", ")}${presentAudience(audience)}.`];
  });
  for (const problem of new Set(problems)) report([...path, "capabilities"], problem);
}

type PriceAudience = Pick<PriceLine, "plan" | "account">;

const everybody: PriceAudience = {};

/** An account may be on any plan. */
function mayHoldFor(line: PriceAudience, { plan, account }: PriceAudience): boolean {
  if (line.account !== undefined) return line.account === account;
  return line.plan === undefined || line.plan === plan || account !== undefined;
}

function presentAudience({ plan, account }: PriceAudience): string {
  if (account !== undefined) return ` that ${account} would pay`;
  return plan === undefined ? "" : ` that the plan ${plan} would pay`;
}

import type { CatalogFile, ModelEntry, PriceLine, ReportProblem } from "./catalog-file.ts";
import { capabilitiesByType, capabilityByStage, dramaStages, listStageModels, listStages } from "./model.ts";

type StageCheck = { file: CatalogFile; report: ReportProblem };
type Path = readonly (string | number)[];

/** Checks that a drama has a suitable model for each stage and a price for each capability. */
export function checkStages(model: ModelEntry, path: Path, { file, report }: StageCheck): void {
  if (model.type !== "drama") {
    if (model.stages !== undefined)
      report([...path, "stages"], `stages works only with drama models. Remove it from ${model.id}.`);
    return;
  }
  if ((model.routes ?? []).length > 0) {
    report([...path, "routes"], "A drama model has no routes of its own: its stages name the models. Remove routes.");
  }
  checkCoverage(model, path, report);
  checkStageModels(model, path, { file, report });
  checkStagePrices(model, path, { file, report });
}

/** Requires every stage up to the last one offered, and none after it. */
function checkCoverage({ id, capabilities, stages = {} }: ModelEntry, path: Path, report: ReportProblem): void {
  const needed = listStages(capabilities);
  const missing = needed.filter((stage) => stages[stage] === undefined);
  if (missing.length > 0) {
    report(
      [...path, "stages"],
      `${id} lacks these stages: ${missing.join(", ")}. Add them: each stage starts from the previous one's result.`,
    );
  }
  for (const stage of dramaStages) {
    if (stages[stage] === undefined || needed.includes(stage)) continue;
    report(
      [...path, "stages", stage],
      `${id} does not have the capability ${capabilityByStage[stage]}. Add it, or remove the stage ${stage}.`,
    );
  }
}

function checkStageModels(drama: ModelEntry, path: Path, { file, report }: StageCheck): void {
  for (const { stage, type, modelId } of listStageModels(drama.stages)) {
    const place = [...path, "stages", stage, type];
    const model = file.models.find(({ id }) => id === modelId);
    if (model === undefined) {
      report(place, `There is no model ${modelId} in this file. Add it under models, or correct the name.`);
    } else if (model.type !== type) {
      report(place, `${modelId} is of type ${model.type}. Name a model of type ${type}.`);
    } else if (type === "chat" && !model.capabilities.includes("json_schema")) {
      report(
        place,
        `${modelId} lacks the capability json_schema, which this stage needs. Add it, or name another model.`,
      );
    } else if (type === "speech" && model.limits?.voices === undefined) {
      report(place, `${modelId} has no limits.voices. Add them: each role gets one.`);
    }
  }
}

/** Every audience that sees the model needs a price for each capability: one that names it, or one that names none. */
function checkStagePrices({ id, capabilities }: ModelEntry, path: Path, { file, report }: StageCheck): void {
  const lines = file.prices.filter(({ model }) => model === id);
  const offered = capabilitiesByType.drama.filter((capability) => capabilities.includes(capability));
  const problems = [everybody, ...lines].flatMap((audience) => {
    const visible = lines.filter((line) => mayHoldFor(line, audience));
    if (visible.length === 0 && lines.length > 0) return [];
    const priced = new Set(visible.map(({ capability }) => capability));
    const missing = priced.has(undefined) ? [] : offered.filter((capability) => !priced.has(capability));
    return missing.length === 0
      ? []
      : [
          `${id} has no price for ${missing.join(", ")}${presentAudience(audience)}. Add one for each, or one without a capability.`,
        ];
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
  if (account !== undefined) return ` that applies to ${account}`;
  return plan === undefined ? "" : ` that applies to the plan ${plan}`;
}

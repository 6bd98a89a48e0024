import { hash } from "node:crypto";
import type { IdSource } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { type LiveCatalog, listStageModels, type Model } from "../catalog/index.ts";
import { type Look, seedMax } from "./drama-documents.ts";
import { takeLook } from "./drama-request.ts";

type LookSource = {
  /** The look of the document or drama that this one resumes from. */
  known: Look;
  model: Model;
  catalog: LiveCatalog;
  ids: IdSource;
};

/** A drama's style, and its seed if one of its models offers `seed`. */
export function chooseLook(asked: Look, { known, model, catalog, ids }: LookSource): Look {
  const style = asked.style === undefined ? known.style : readStyle(asked.style);
  if (!offersSeed(catalog, model)) {
    if (asked.seed === undefined) return takeLook({ style, seed: undefined });
    const message = `No model that ${model.id} uses supports \`seed\`. Remove it.`;
    throw new AppError("unsupported_capability", message, { param: "seed" });
  }
  return takeLook({ style, seed: asked.seed ?? known.seed ?? drawSeed(ids) });
}

function readStyle(style: string): string {
  const trimmed = style.replace(/\s+/g, " ").trim();
  if (trimmed === "") throw new AppError("invalid_parameter", "`style` must not be empty.", { param: "style" });
  return trimmed;
}

function offersSeed(catalog: LiveCatalog, { stages }: Model): boolean {
  const { modelById } = catalog.current();
  return listStageModels(stages).some(({ modelId }) => modelById.get(modelId)?.limits.seed === true);
}

/** A new id is random, and so is its hash. */
function drawSeed(ids: IdSource): number {
  return hash("sha256", ids.next("task"), "buffer").readUInt32BE(0) % (seedMax + 1);
}

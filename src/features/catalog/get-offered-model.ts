import { AppError } from "../../platform/errors/app-error.ts";
import { type Audience, type CatalogView, findOfferedModel, type OfferedModel } from "./catalog-view.ts";
import type { Capability } from "./model.ts";
import type { Price } from "./price.ts";

/** The model that a call names, or the error that says why the caller cannot use it. */
export function getOfferedModel(view: CatalogView, modelId: string, audience: Audience, now: Date): OfferedModel {
  const found = findOfferedModel(view, modelId, audience, now);
  if (found.kind === "offered") return found.offered;
  if (found.kind === "outside-key-scope") {
    throw new AppError("key_not_permitted", "This API key may not use this model.", { param: "model" });
  }
  throw new AppError("model_unavailable", "There is no such model. GET /models lists those there are.", {
    param: "model",
  });
}

/** The price for a capability, or else the price that covers every capability. */
export function getPrice(prices: readonly Price[], used: Capability): Price {
  const price =
    prices.find(({ capability }) => capability === used) ?? prices.find(({ capability }) => capability === null);
  if (price === undefined) {
    throw new AppError("unsupported_capability", `This model has no price for ${used}.`, { param: "model" });
  }
  return price;
}

import type { GenerationRequest, ObstacleSearch } from "../generation.ts";
import type { FieldRules } from "../route-terms.ts";
import { findRequestObstacle } from "../write-media-fields.ts";
import type { MediaVendor, Products } from "./queue-vendor.ts";

type Offer = Pick<MediaVendor, "makes" | "families">;
type FieldsByType = Partial<Record<GenerationRequest["type"], FieldRules>>;

/** What one of the vendor's models makes. */
export function findProducts({ makes, families = [] }: Offer, upstreamModel: string): Products {
  return families.find(({ models }) => models.test(upstreamModel))?.makes ?? makes;
}

export function listProductFields(products: Products): FieldsByType {
  return Object.fromEntries(Object.entries(products).map(([type, { fields }]) => [type, fields]));
}

/** What a model cannot do in a request; without a model, what none of the vendor's can. */
export function findProductObstacle(
  vendor: Offer,
  request: GenerationRequest,
  search: ObstacleSearch,
): ReturnType<typeof findRequestObstacle> {
  const { upstreamModel } = search;
  const offers =
    upstreamModel === undefined
      ? [vendor.makes, ...(vendor.families ?? []).map(({ makes }) => makes)]
      : [findProducts(vendor, upstreamModel)];
  const obstacles = offers.map((products) => findRequestObstacle(request, search, listProductFields(products)));
  return obstacles.includes(null) ? null : (obstacles[0] ?? null);
}

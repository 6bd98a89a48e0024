import type { Caller } from "../../lib/caller.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { Catalog } from "./catalog.ts";
import { type Capability, listStageModels, listStages, type Model, type ModelStatus, type ModelType } from "./model.ts";
import type { Price } from "./price.ts";
import { listRouteTargets, type RouteTarget } from "./route-target.ts";

/** For whom a question about the catalog is answered. */
export type Audience = Pick<Caller, "accountId" | "planId" | "modelIds">;

/** Whoever has just opened an account: on no plan, with no prices of their own. No account has this id. */
export const newcomer: Audience = { accountId: "acct_", planId: null, modelIds: null };

export type ModelFilter = { type?: ModelType; capability?: Capability; status?: ModelStatus };

/** A model as it stands at a moment: with its status, and the prices that hold for the audience. */
export type OfferedModel = { model: Model; status: ModelStatus; prices: readonly Price[] };

/** What the catalog asks about upstreams. */
export type KnownHealth = Pick<UpstreamHealth, "isWell" | "findFault" | "version">;

/** A version of the catalog, arranged for answering. It never changes; a new version is a new view. */
export type CatalogView = {
  catalog: Catalog | null;
  modelById: ReadonlyMap<string, Model>;
  pricesByModelId: ReadonlyMap<string, readonly Price[]>;
  /** Where calls of each model can go. */
  targetsByModelId: ReadonlyMap<string, readonly RouteTarget[]>;
  health: KnownHealth;
  /** The accounts that have prices of their own. */
  accountsWithPrices: ReadonlySet<string>;
  /** When time alone changes an answer: a price takes effect, a model is deprecated or shut down. In order. */
  turningPointsMs: readonly number[];
};

export function createCatalogView(catalog: Catalog | null, health: KnownHealth): CatalogView {
  const { models = [], prices = [], providers = [] } = catalog ?? {};
  const providerById = new Map(providers.map((provider) => [provider.id, provider]));
  const times = [
    ...prices.map((price) => price.effectiveAt.getTime()),
    ...models.flatMap(({ deprecated_at, shutdown_date }) => [deprecated_at, shutdown_date]).map(toMs),
  ];
  return {
    catalog,
    modelById: new Map(models.map((model) => [model.id, model])),
    pricesByModelId: Map.groupBy(prices, (price) => price.modelId),
    targetsByModelId: new Map(models.map((model) => [model.id, listRouteTargets(model, providerById)])),
    health,
    accountsWithPrices: new Set(prices.flatMap(({ accountId }) => (accountId === null ? [] : [accountId]))),
    turningPointsMs: [...new Set(times.filter(Number.isFinite))].toSorted((a, b) => a - b),
  };
}

/** Every model that the audience may use at the moment, in the catalog's order. */
export function listOfferedModels(
  view: CatalogView,
  audience: Audience,
  now: Date,
  filter: ModelFilter = {},
): OfferedModel[] {
  return [...view.modelById.values()].flatMap((model) => {
    const offered = offerModel(view, model, audience, now);
    return offered !== null && isInScope(model, audience) && matches(offered, filter) ? [offered] : [];
  });
}

export type FoundModel =
  | { kind: "offered"; offered: OfferedModel }
  | { kind: "outside-key-scope" }
  | { kind: "absent" };

/** One model: for an audience that may not use it, it does not exist. */
export function findOfferedModel(view: CatalogView, modelId: string, audience: Audience, now: Date): FoundModel {
  const model = view.modelById.get(modelId);
  const offered = model === undefined ? null : offerModel(view, model, audience, now);
  if (offered === null) return { kind: "absent" };
  return isInScope(offered.model, audience) ? { kind: "offered", offered } : { kind: "outside-key-scope" };
}

/** `null` when the account may not use the model: not its plan, shut down, or without a price that is in force. */
function offerModel(view: CatalogView, model: Model, audience: Audience, now: Date): OfferedModel | null {
  if (model.plans !== undefined && (audience.planId === null || !model.plans.includes(audience.planId))) return null;
  if (isPast(model.shutdown_date, now)) return null;
  const prices = choosePrices(view.pricesByModelId.get(model.id) ?? [], audience, now);
  return prices.length === 0 ? null : { model, status: decideStatus(view, model, now), prices };
}

function decideStatus(view: CatalogView, model: Model, now: Date): ModelStatus {
  const service = model.type === "drama" ? judgeStages(view, model) : judgeRoutes(view, model.id);
  return service !== "unavailable" && isPast(model.deprecated_at, now) ? "deprecated" : service;
}

type Service = Exclude<ModelStatus, "deprecated">;

function judgeRoutes({ targetsByModelId, health }: CatalogView, modelId: string): Service {
  const targets = targetsByModelId.get(modelId) ?? [];
  const isWell = (target: RouteTarget): boolean => health.isWell(target);
  if (!targets.some(isWell)) return "unavailable";
  return targets.every(isWell) ? "available" : "degraded";
}

/** A drama is as well as the weakest of those who make it; it can do without its avatars. */
function judgeStages(view: CatalogView, { capabilities, stages }: Model): Service {
  // Written by a version that knew no stages.
  if (listStages(capabilities).some((stage) => stages?.[stage] === undefined)) return "unavailable";
  const services = listStageModels(stages).map(({ type, modelId }) => {
    const service = judgeRoutes(view, modelId);
    return service === "unavailable" && type === "avatar" ? "degraded" : service;
  });
  return (["unavailable", "degraded"] as const).find((service) => services.includes(service)) ?? "available";
}

/** For each capability the newest price in force: the account's own before its plan's before everybody's. */
function choosePrices(prices: readonly Price[], audience: Audience, now: Date): readonly Price[] {
  const [only] = prices;
  // As most models have it, and felt in every call.
  if (prices.length === 1 && only !== undefined && only.effectiveAt <= now && rankScope(only, audience) !== null) {
    return prices;
  }
  const chosen = new Map<string | null, Price>();
  for (const price of prices) {
    const rank = rankScope(price, audience);
    if (rank === null || price.effectiveAt > now) continue;
    const rival = chosen.get(price.capability);
    const rivalRank = rival === undefined ? null : rankScope(rival, audience);
    const isBetter =
      rival === undefined ||
      rivalRank === null ||
      rank > rivalRank ||
      (rank === rivalRank && price.effectiveAt > rival.effectiveAt);
    if (isBetter) chosen.set(price.capability, price);
  }
  return [...chosen.values()];
}

/** How closely a price is meant for the audience; `null` when it is not. */
function rankScope(price: Price, audience: Audience): number | null {
  if (price.accountId !== null) return price.accountId === audience.accountId ? 2 : null;
  if (price.planId !== null) return price.planId === audience.planId ? 1 : null;
  return 0;
}

function isInScope(model: Model, { modelIds }: Audience): boolean {
  return modelIds === null || modelIds.has(model.id);
}

function matches({ model, status }: OfferedModel, filter: ModelFilter): boolean {
  return (
    (filter.type === undefined || model.type === filter.type) &&
    (filter.capability === undefined || model.capabilities.includes(filter.capability)) &&
    (filter.status === undefined || status === filter.status)
  );
}

function isPast(time: string | undefined, now: Date): boolean {
  return toMs(time) <= now.getTime();
}

function toMs(time: string | undefined): number {
  return time === undefined ? Number.POSITIVE_INFINITY : Date.parse(time);
}

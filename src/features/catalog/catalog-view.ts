import type { Caller } from "../../lib/caller.ts";
import { listNearest } from "../../lib/nearest-word.ts";
import { environmentSecrets, type SecretReader } from "../../platform/config/secrets.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { UpstreamHealth } from "../../providers/upstream-health.ts";
import type { Catalog } from "./catalog.ts";
import { derivePrice } from "./compile-price.ts";
import { type Capability, listStageModels, type Model, type ModelStatus, type ModelType } from "./model.ts";
import { findMultiplier, type Multiplier, toEnd, toStart } from "./multiplier.ts";
import type { Price } from "./price.ts";
import { listRouteTargets, type RouteTarget } from "./route-target.ts";

/** The caller that a catalog response is for. */
export type Audience = Pick<Caller, "accountId" | "planId" | "modelIds">;

/** A new account: no plan, no prices of its own. No account has this id. */
export const newcomer: Audience = { accountId: "acct_", planId: null, modelIds: null };

export type ModelFilter = { type?: ModelType; capability?: Capability; status?: ModelStatus };

/** A model at a point in time: its status, and the prices in force for the audience. */
export type OfferedModel = { model: Model; status: ModelStatus; prices: readonly Price[] };

/** The part of upstream health that the catalog reads. */
export type KnownHealth = Pick<UpstreamHealth, "isWell" | "findFault" | "version">;

/** A catalog version, indexed for reads. Immutable: a new version is a new view. */
export type CatalogView = {
  catalog: Catalog | null;
  modelById: ReadonlyMap<string, Model>;
  modelByAlias: ReadonlyMap<string, Model>;
  pricesByModelId: ReadonlyMap<string, readonly Price[]>;
  multipliers: readonly Multiplier[];
  /** The targets that calls of each model can be sent to. */
  targetsByModelId: ReadonlyMap<string, readonly RouteTarget[]>;
  health: KnownHealth;
  /** Accounts with prices or multipliers of their own. */
  accountsWithPrices: ReadonlySet<string>;
  /**
   * The times when a response changes without a new version: a price takes effect, a model is deprecated or shut down.
   * Sorted.
   */
  turningPointsMs: readonly number[];
};

export function createCatalogView(
  catalog: Catalog | null,
  health: KnownHealth,
  secrets: SecretReader = environmentSecrets,
): CatalogView {
  const { models = [], prices = [], providers = [], multipliers = [] } = catalog ?? {};
  const providerById = new Map(providers.map((provider) => [provider.id, provider]));
  const times = [
    ...prices.map((price) => price.effectiveAt.getTime()),
    ...multipliers.flatMap((multiplier) => [toStart(multiplier), toEnd(multiplier)]),
    ...models.flatMap(({ deprecated_at, shutdown_date }) => [deprecated_at, shutdown_date]).map(toMs),
  ];
  return {
    catalog,
    modelById: new Map(models.map((model) => [model.id, model])),
    modelByAlias: new Map(models.flatMap((model) => (model.aliases ?? []).map((alias) => [alias, model] as const))),
    pricesByModelId: Map.groupBy(prices, (price) => price.modelId),
    targetsByModelId: new Map(models.map((model) => [model.id, listRouteTargets(model, providerById, secrets)])),
    health,
    multipliers,
    accountsWithPrices: new Set([
      ...prices.flatMap(({ accountId }) => (accountId === null ? [] : [accountId])),
      ...multipliers.flatMap(({ account }) => (account === undefined ? [] : [account])),
    ]),
    turningPointsMs: [...new Set(times.filter(Number.isFinite))].toSorted((a, b) => a - b),
  };
}

/** Every model that the audience may use now, in the catalog's order. */
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

/** The model with this id or alias. */
export function findModel({ modelById, modelByAlias }: CatalogView, name: string): Model | undefined {
  return modelById.get(name) ?? modelByAlias.get(name);
}

/** A model that the audience may not use is reported as absent. `name` is an id or an alias. */
export function findOfferedModel(view: CatalogView, name: string, audience: Audience, now: Date): FoundModel {
  const known = recallOffers(view, audience, now);
  const last = known.byName.get(name);
  if (last !== undefined) return last;
  const model = findModel(view, name);
  const offered = model === undefined ? null : offerModel(view, model, audience, now);
  if (offered === null) return { kind: "absent" };
  if (!isInScope(offered.model, audience)) return { kind: "outside-key-scope" };
  const found: FoundModel = { kind: "offered", offered };
  known.byName.set(name, found);
  return found;
}

/** What was offered to an audience, while nothing that it depends on has changed. */
type KnownOffers = {
  view: CatalogView;
  healthVersion: number;
  fromMs: number;
  untilMs: number;
  /** Names that callers make up are not in it. */
  byName: Map<string, FoundModel>;
};

const offersOfAudiences = new WeakMap<Audience, KnownOffers>();

/** Cached by identity, as limits are: this runs in every call. */
function recallOffers(view: CatalogView, audience: Audience, now: Date): KnownOffers {
  const nowMs = now.getTime();
  const healthVersion = view.health.version();
  const known = offersOfAudiences.get(audience);
  if (known !== undefined && known.view === view && known.healthVersion === healthVersion) {
    if (nowMs >= known.fromMs && nowMs < known.untilMs) return known;
  }
  const untilMs = findTurningPoint(view, nowMs);
  const offers: KnownOffers = { view, healthVersion, fromMs: nowMs, untilMs, byName: new Map() };
  offersOfAudiences.set(audience, offers);
  return offers;
}

/** When a response about the catalog changes next without a new version. */
export function findTurningPoint({ turningPointsMs }: CatalogView, nowMs: number): number {
  return turningPointsMs.find((point) => point > nowMs) ?? Number.POSITIVE_INFINITY;
}

/** Returns the model that a call names. Throws if the caller may not use it. */
export function getOfferedModel(view: CatalogView, name: string, audience: Audience, now: Date): OfferedModel {
  const found = findOfferedModel(view, name, audience, now);
  if (found.kind === "offered") return found.offered;
  if (found.kind === "outside-key-scope") {
    throw new AppError("key_not_permitted", "This API key may not use this model.", { param: "model" });
  }
  throw new AppError("model_unavailable", explainMissingModel(view, name, audience, now), { param: "model" });
}

const suggestedModelsMax = 3;

/** Suggests the models with the nearest names that the audience may use. */
function explainMissingModel(view: CatalogView, name: string, audience: Audience, now: Date): string {
  const known = listOfferedModels(view, audience, now).map(({ model }) => model.id);
  const nearest = listNearest(name, known, suggestedModelsMax).map((id) => `\`${id}\``);
  const missing = `There is no model \`${name}\`.`;
  const all = "`GET /v1/models` lists the models that your key can use.";
  return nearest.length === 0 ? `${missing} ${all}` : `${missing} The nearest names are ${nearest.join(", ")}. ${all}`;
}

/** Returns the price for a capability, or else the price that covers every capability. */
export function getPrice(prices: readonly Price[], used: Capability): Price {
  const price =
    prices.find(({ capability }) => capability === used) ?? prices.find(({ capability }) => capability === null);
  if (price === undefined) {
    throw new AppError("unsupported_capability", `This model has no price for ${used}.`, { param: "model" });
  }
  return price;
}

/** `null` when the account may not use the model: another plan's, shut down, or without a price in force. */
function offerModel(view: CatalogView, model: Model, audience: Audience, now: Date): OfferedModel | null {
  if (model.plans !== undefined && (audience.planId === null || !model.plans.includes(audience.planId))) return null;
  if (isPast(model.shutdown_date, now)) return null;
  const listed = choosePrices(view.pricesByModelId.get(model.id) ?? [], audience, now);
  const prices = view.multipliers.length === 0 ? listed : multiplyPrices(view, listed, { model, audience, now });
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

/** A drama is only as available as its weakest stage; without its avatar model it is degraded. */
function judgeStages(view: CatalogView, { stages }: Model): Service {
  const services = listStageModels(stages).map(({ type, modelId }) => {
    const service = judgeRoutes(view, modelId);
    return service === "unavailable" && type === "avatar" ? "degraded" : service;
  });
  return (["unavailable", "degraded"] as const).find((service) => services.includes(service)) ?? "available";
}

type Priced = { modelId: string; capability: string | null; accountId: string; planId: string | null; now: Date };

/** The price of a model for a customer, whether or not the model can be called; `null` without one. */
export function findPriceOf(
  { models, prices, multipliers }: Pick<Catalog, "models" | "prices" | "multipliers">,
  { modelId, capability, accountId, planId, now }: Priced,
): Price | null {
  const model = models.find(({ id }) => id === modelId);
  if (model === undefined) return null;
  const audience = { accountId: accountId as Audience["accountId"], planId, modelIds: null };
  const listed = choosePrices(
    prices.filter((price) => price.modelId === modelId),
    audience,
    now,
  );
  const multiplied = multiplyPrices({ multipliers }, listed, { model, audience, now });
  return (
    multiplied.find((price) => price.capability === capability) ??
    multiplied.find((price) => price.capability === null) ??
    null
  );
}

/**
 * Returns the newest price in force for each capability. The account's own wins over its plan's, which wins over the
 * public price.
 */
function choosePrices(prices: readonly Price[], audience: Audience, now: Date): readonly Price[] {
  const [only] = prices;
  // Fast path for most models: this runs in every call.
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

function multiplyPrices(
  { multipliers }: Pick<CatalogView, "multipliers">,
  prices: readonly Price[],
  { model, audience, now }: { model: Model; audience: Audience; now: Date },
): readonly Price[] {
  return prices.map((price) => {
    const multiplier = findMultiplier(multipliers, { model, price, customer: audience, now });
    return multiplier === null ? price : derivePrice(price, { multiplier });
  });
}

/** How specific a price is to the audience; `null` when it does not apply. */
function rankScope(price: Price, audience: Audience): number | null {
  if (price.accountId !== null) return price.accountId === audience.accountId ? 2 : null;
  if (price.planId !== null) return price.planId === audience.planId ? 1 : null;
  return 0;
}

function isInScope(model: Model, { modelIds }: Audience): boolean {
  return modelIds === null || modelIds.has(model.id) || model.aliases?.some((alias) => modelIds.has(alias)) === true;
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

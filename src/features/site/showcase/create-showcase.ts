import { setTimeout as wait } from "node:timers/promises";
import type { Static } from "typebox";
import type { Clock } from "../../../lib/clock.ts";
import { remember } from "../../../lib/remember.ts";
import {
  type LiveCatalog,
  listOfferedModels,
  modelTypes,
  newcomer,
  type OfferedModel,
  presentPrice,
} from "../../catalog/index.ts";
import type { SiteOptions } from "../site-dependencies.ts";
import type { showcaseSchema, statusSchema } from "./showcase-schema.ts";

export type ShowcaseOptions = Pick<SiteOptions, "currency" | "baseUrl" | "signUp"> & {
  catalog: LiveCatalog;
  clock: Clock;
  /** Throws if the database does not respond. */
  checkDatabase(): Promise<void>;
  /** Whether a task due before then is still waiting. */
  hasTasksDueBefore(moment: Date): Promise<boolean>;
};

type ShowcaseView = Static<typeof showcaseSchema>;
type StatusView = Static<typeof statusSchema>;
type ServiceState = StatusView["state"];
type ServiceCheck = StatusView["checks"][number];

export type Showcase = { read(): Promise<ShowcaseView>; readStatus(): Promise<StatusView> };

const rememberedMs = 5_000;
const answerMsMax = 2_000;
/** Workers claim due tasks within moments; one that waited this long means no worker runs. */
const overdueMs = 60_000;

/** Public data: the same as a new account sees. */
export function createShowcase(options: ShowcaseOptions): Showcase {
  const { catalog, clock, currency, baseUrl, signUp } = options;
  const listModels = (): OfferedModel[] => listOfferedModels(catalog.current(), newcomer, clock.now());

  async function compose(): Promise<ShowcaseView> {
    const models = listModels();
    return {
      object: "showcase",
      models: models.map(presentShown),
      currency,
      status: {
        state: computeModelsState(models),
        models_available: models.filter(isServed).length,
        models_total: models.length,
      },
      base_url: baseUrl,
      sign_up: signUp,
    };
  }

  async function check(): Promise<StatusView> {
    const models = listModels();
    const checks: ServiceCheck[] = [
      { name: "api", state: "ok" },
      ...(await checkWork(options)),
      ...checkModelTypes(models),
    ];
    return { object: "status", state: computeServiceState(checks, models), checks };
  }

  return { read: remember(clock, rememberedMs, compose), readStatus: remember(clock, rememberedMs, check) };
}

function presentShown({ model, status, prices }: OfferedModel) {
  const { id, name, type, description, capabilities } = model;
  return { id, name, type, description, capabilities, status, prices: prices.map(presentPrice) };
}

/** Workers need the database, so without it they are down too. */
async function checkWork({ clock, checkDatabase, hasTasksDueBefore }: ShowcaseOptions): Promise<ServiceCheck[]> {
  const lookForOverdue = async (): Promise<boolean> => {
    await checkDatabase();
    return await hasTasksDueBefore(new Date(clock.now().getTime() - overdueMs));
  };
  const isBehind = await answerInTime(lookForOverdue());
  return [
    { name: "database", state: isBehind === null ? "down" : "ok" },
    { name: "workers", state: isBehind === null ? "down" : isBehind ? "degraded" : "ok" },
  ];
}

/** `null` if it fails or times out; the status does not distinguish them. */
async function answerInTime<T>(question: Promise<T>): Promise<T | null> {
  const over = new AbortController();
  const tooLong = wait(answerMsMax, null, { signal: over.signal, ref: false }).catch(() => null);
  try {
    return await Promise.race([question.catch(() => null), tooLong]);
  } finally {
    over.abort();
  }
}

/** All, some or none of the models are available. An empty catalog is fine. */
function computeModelsState(models: readonly OfferedModel[]): ServiceState {
  const served = models.filter(isServed).length;
  if (served === models.length) return "ok";
  return served === 0 ? "down" : "degraded";
}

function isServed({ status }: OfferedModel): boolean {
  return status !== "unavailable";
}

/** One check per offered model type. */
function checkModelTypes(models: readonly OfferedModel[]): ServiceCheck[] {
  return modelTypes.flatMap((type) => {
    const ofType = models.filter(({ model }) => model.type === type);
    return ofType.length === 0 ? [] : [{ name: type, state: computeModelsState(ofType) }];
  });
}

/** Down without the database or any model; degraded by any other problem. */
function computeServiceState(checks: readonly ServiceCheck[], models: readonly OfferedModel[]): ServiceState {
  const isWithoutDatabase = checks.some(({ name, state }) => name === "database" && state === "down");
  if (isWithoutDatabase || computeModelsState(models) === "down") return "down";
  return checks.every(({ state }) => state === "ok") ? "ok" : "degraded";
}

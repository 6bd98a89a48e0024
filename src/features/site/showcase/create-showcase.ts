import { setTimeout as wait } from "node:timers/promises";
import type { Static } from "typebox";
import type { Clock } from "../../../lib/clock.ts";
import { type LiveCatalog, listOfferedModels, newcomer, type OfferedModel, presentPrice } from "../../catalog/index.ts";
import type { SignUpPolicy } from "../sign-in/user/sign-up.ts";
import {
  checkModelTypes,
  computeModelsState,
  computeServiceState,
  isServed,
  type ServiceCheck,
} from "./compute-service-state.ts";
import type { showcaseSchema, statusSchema } from "./showcase-schema.ts";

type ShowcaseOptions = {
  catalog: Pick<LiveCatalog, "current">;
  clock: Clock;
  currency: string;
  baseUrl: string;
  signUp: SignUpPolicy;
  /** Throws if the database does not respond. */
  checkDatabase(): Promise<void>;
  /** Whether a task due before then is still waiting. */
  hasTasksDueBefore(moment: Date): Promise<boolean>;
};

export type Showcase = {
  read(): Promise<Static<typeof showcaseSchema>>;
  readStatus(): Promise<Static<typeof statusSchema>>;
};

const rememberedMs = 5_000;
const answerMsMax = 2_000;
/** Workers claim due tasks within moments; one that waited this long means no worker runs. */
const overdueMs = 60_000;

/** Public data: the same as a new account sees. */
export function createShowcase(options: ShowcaseOptions): Showcase {
  const { catalog, clock, currency, baseUrl, signUp } = options;
  const listModels = (): OfferedModel[] => listOfferedModels(catalog.current(), newcomer, clock.now());

  async function compose(): Promise<Static<typeof showcaseSchema>> {
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

  async function check(): Promise<Static<typeof statusSchema>> {
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

/**
 * Caches a promise for a while, shared by all callers, so public pages cost almost nothing. Failures are not cached.
 */
function remember<T>(clock: Clock, forMs: number, ask: () => Promise<T>): () => Promise<T> {
  let known: { answer: Promise<T>; untilMs: number } | null = null;
  return () => {
    if (known !== null && clock.monotonicMs() < known.untilMs) return known.answer;
    const asked = { answer: ask(), untilMs: clock.monotonicMs() + forMs };
    known = asked;
    asked.answer.catch(() => {
      if (known === asked) known = null;
    });
    return asked.answer;
  };
}

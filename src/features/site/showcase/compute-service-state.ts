import { type ModelType, modelTypes, type OfferedModel } from "../../catalog/index.ts";

export const serviceStates = ["ok", "degraded", "down"] as const;
export type ServiceState = (typeof serviceStates)[number];

export type ServiceCheck = { name: "api" | "database" | "workers" | ModelType; state: ServiceState };

/** All, some or none of the models are available. An empty catalog is fine. */
export function computeModelsState(models: readonly OfferedModel[]): ServiceState {
  const served = models.filter(isServed).length;
  if (served === models.length) return "ok";
  return served === 0 ? "down" : "degraded";
}

export function isServed({ status }: OfferedModel): boolean {
  return status !== "unavailable";
}

/** One check per offered model type. */
export function checkModelTypes(models: readonly OfferedModel[]): ServiceCheck[] {
  return modelTypes.flatMap((type) => {
    const ofType = models.filter(({ model }) => model.type === type);
    return ofType.length === 0 ? [] : [{ name: type, state: computeModelsState(ofType) }];
  });
}

/** Down without the database or any model; degraded by any other problem. */
export function computeServiceState(checks: readonly ServiceCheck[], models: readonly OfferedModel[]): ServiceState {
  const isWithoutDatabase = checks.some(({ name, state }) => name === "database" && state === "down");
  if (isWithoutDatabase || computeModelsState(models) === "down") return "down";
  return checks.every(({ state }) => state === "ok") ? "ok" : "degraded";
}

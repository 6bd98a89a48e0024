import type { ProviderDefinition } from "../../providers/provider-definition.ts";
import { nameTarget, type UpstreamTarget } from "../../providers/upstream-health.ts";

/** How many tasks a provider takes, over all gateways. `place` names what they are counted for: the provider, or one key. */
export type TaskLimits = {
  place: string;
  /** `null`: the whole provider. */
  keyNumber: number | null;
  /** At a time. */
  tasksMax: number | null;
  perMinute: number | null;
};

/** What a place has now. */
export type PlaceUse = {
  /** Tasks that hold a permit. */
  taken: number;
  /** When its next task may start, by its rate; `null` at any time. */
  nextAt: Date | null;
};

/** Starts may come in bursts of a second: workers look for waiting tasks about that often. */
const burstMs = 1_000;
const minuteMs = 60_000;

/** `null` for a provider without limits. */
export function readTaskLimits(provider: ProviderDefinition, keyNumber: number): TaskLimits | null {
  const { id, tasks_max = null, tasks_per_minute = null, task_limits_per = "provider" } = provider;
  if (tasks_max === null && tasks_per_minute === null) return null;
  const isPerKey = task_limits_per === "key";
  return {
    place: isPerKey ? nameTarget({ providerId: id, upstreamModel: null, keyNumber }) : id,
    keyNumber: isPerKey ? keyNumber : null,
    tasksMax: tasks_max,
    perMinute: tasks_per_minute,
  };
}

/** The limits of every place of a provider. */
export function listTaskLimits(provider: ProviderDefinition): TaskLimits[] {
  const keys = provider.task_limits_per === "key" ? (provider.api_keys ?? [""]) : [""];
  return keys.flatMap((_, keyNumber) => readTaskLimits(provider, keyNumber) ?? []);
}

/** How many tasks may start at the place now. */
export function countRoom({ tasksMax, perMinute }: TaskLimits, { taken, nextAt }: PlaceUse, now: Date): number {
  const places = tasksMax === null ? Number.POSITIVE_INFINITY : tasksMax - taken;
  const aheadMs = nextAt === null ? 0 : Math.max(0, nextAt.getTime() - now.getTime());
  const starts =
    perMinute === null ? Number.POSITIVE_INFINITY : Math.floor((burstMs - aheadMs) / readIntervalMs(perMinute)) + 1;
  return Math.max(0, Math.min(places, starts));
}

/** When the next task may start after one starts now; `null` without a rate. */
export function advanceRate({ perMinute }: TaskLimits, { nextAt }: PlaceUse, now: Date): Date | null {
  if (perMinute === null) return null;
  return new Date(Math.max(now.getTime(), nextAt?.getTime() ?? 0) + readIntervalMs(perMinute));
}

/** With the burst, no minute has more starts than allowed. */
function readIntervalMs(perMinute: number): number {
  return (minuteMs + burstMs) / perMinute;
}

/** Where `Retry-After` of a refused submission applies. */
export function nameRestingPlace(target: UpstreamTarget): string {
  return nameTarget(target);
}

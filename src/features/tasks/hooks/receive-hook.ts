import type { webcrypto } from "node:crypto";
import { pickWord } from "../../../providers/pick.ts";
import { type HookDelivery, isHookGenuine } from "../../../providers/vendor-hook.ts";
import type { HookAddresses } from "../hook-address.ts";
import { hintLease } from "../lease-store.ts";
import { findTask } from "../task-store.ts";
import { findTaskTarget, listTaskTargets } from "../task-target.ts";
import type { WorkerDependencies } from "../work/worker-dependencies.ts";

export type HookDependencies = Pick<
  WorkerDependencies,
  "database" | "clock" | "catalog" | "registry" | "wakeWorkers" | "logger"
> & {
  addresses: HookAddresses;
  /** The keys that fal signs with. */
  readFalKeys(): Promise<readonly webcrypto.JsonWebKey[]>;
  /** Whether the task has too many callbacks. */
  isOverLimit(taskId: string): boolean;
};

/** What the vendor gets back. `unknown`: not an address of ours. */
export type HookOutcome =
  | { kind: "unknown" | "forged" | "received" }
  | { kind: "echoed"; field: string; value: string };

const echoCharactersMax = 500;

/** Makes the task's poll due. Believes nothing in the body: the poll finds out what has happened. */
export async function receiveHook(
  dependencies: HookDependencies,
  token: string,
  delivery: Omit<HookDelivery, "now">,
): Promise<HookOutcome> {
  const { database, clock, catalog, registry, addresses, logger } = dependencies;
  const known = addresses.read(token);
  if (known === null) return { kind: "unknown" };
  if (dependencies.isOverLimit(known.taskId)) return { kind: "received" };
  const task = await findTask(database, known.taskId);
  // Ended tasks, and those that wait for another target: nothing is polled.
  if (task === null || task.target === null || (task.phase !== "running" && task.phase !== "submitting")) {
    return { kind: "received" };
  }
  const target = findTaskTarget(listTaskTargets(catalog.current(), task.model, registry), task.target);
  const hook = target?.generation.hook;
  if (target === null || hook === undefined) return { kind: "received" };
  const echoed = hook.echoes === undefined ? null : pickWord(parse(delivery.body), hook.echoes);
  if (hook.echoes !== undefined && echoed !== null) {
    return { kind: "echoed", field: hook.echoes, value: echoed.slice(0, echoCharactersMax) };
  }
  const { webhook_secret: reference } = target.provider;
  const secretOfVendor = reference === undefined ? null : target.secrets.use(reference);
  const keys = {
    secret: hook.secretField === undefined ? secretOfVendor : known.secret,
    publicKeys: hook.signature === "fal" ? await dependencies.readFalKeys() : [],
  };
  const now = clock.now();
  if (hook.signature !== undefined && !isHookGenuine(hook.signature, { ...delivery, now }, keys)) {
    logger.warn({ task_id: task.id, upstream: target.providerId }, "vendor callback with a wrong signature");
    return { kind: "forged" };
  }
  await hintLease(database, task.id, { afterMs: target.generation.traits.pollMsMin, now });
  dependencies.wakeWorkers();
  return { kind: "received" };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    // Nothing in it matters.
    return null;
  }
}

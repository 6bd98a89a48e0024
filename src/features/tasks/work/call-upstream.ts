import { AppError } from "../../../platform/errors/app-error.ts";
import type { Logger } from "../../../platform/observability/logger.ts";
import { chooseTarget, listUntried } from "../../../providers/choose-target.ts";
import { ProviderError } from "../../../providers/contract.ts";
import { describeFailure } from "../../../providers/failures/describe-failure.ts";
import type { GenerationCall, GenerationInput, SubmitOutcome } from "../../../providers/generation.ts";
import type { ProviderRegistry } from "../../../providers/provider-registry.ts";
import { readApiKey } from "../../../providers/provider-setup.ts";
import { describeOutcome, type UpstreamHealth, type UpstreamTarget } from "../../../providers/upstream-health.ts";
import { toProviderError } from "../../calls/index.ts";
import type { LiveCatalog } from "../../catalog/index.ts";
import type { Outcome, Step, Upstream, UpstreamJob } from "../machine/task-machine.ts";
import type { MediaTask } from "../task.ts";
import type { TaskFailpoint } from "../task-failpoints.ts";
import {
  findTaskTarget,
  type Handover,
  isSameTarget,
  listAbleTargets,
  listTaskTargets,
  nameTarget,
  type TaskTarget,
} from "../task-target.ts";
import { type CollectDependencies, collectOutputs } from "./collect-outputs.ts";
import { type InputDependencies, loadInputs } from "./load-inputs.ts";

export type UpstreamDependencies = InputDependencies &
  CollectDependencies & {
    catalog: LiveCatalog;
    registry: ProviderRegistry;
    health: UpstreamHealth;
    logger: Logger;
    random(): number;
    failpoint(name: TaskFailpoint): void;
  };

/** Runs a step of a media task: calls upstreams and storage, writes nothing of the task, and returns the outcome. */
export async function callUpstream(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  { step, signal }: { step: Exclude<Step, { kind: "orchestrate" }>; signal: AbortSignal },
): Promise<Outcome> {
  switch (step.kind) {
    case "choose-target":
      return await choose(dependencies, task, signal);
    case "submit":
      return await submit(dependencies, task, step.handover, signal);
    case "recover":
      return await recover(dependencies, task, step, signal);
    case "poll":
      return await poll(dependencies, task, step.job, signal);
    case "stop":
      return await stop(dependencies, task, step.job, signal);
    case "collect":
      return await collect(dependencies, task, step, signal);
    case "abandon":
      return await abandon(dependencies, task, step, signal);
  }
}

function listAble({ catalog, registry }: UpstreamDependencies, task: MediaTask): TaskTarget[] {
  return listAbleTargets(listTaskTargets(catalog.current(), task.model, registry), task.request).able;
}

/** The target that a task was sent to; `null` if the catalog no longer has it. */
function findTarget(
  { catalog, registry }: UpstreamDependencies,
  { model }: MediaTask,
  sent: UpstreamTarget,
): TaskTarget | null {
  return findTaskTarget(listTaskTargets(catalog.current(), model, registry), sent);
}

function describeUpstream(dependencies: UpstreamDependencies, task: MediaTask, target: TaskTarget): Upstream {
  const { keepsWork, pollMsMin, pollMsMax } = target.generation.traits;
  const able = listAble(dependencies, task);
  const gone = able.filter((one) => [...task.tried, target].some((other) => isSameTarget(one, other)));
  return {
    ...{ keepsWork, pollMsMin, pollMsMax },
    target: nameTarget(target),
    permitsMax: target.provider.tasks_max ?? null,
    hasAlternative: listUntried(able, gone).length > 0,
    jitter: dependencies.random(),
  };
}

async function choose(dependencies: UpstreamDependencies, task: MediaTask, signal: AbortSignal): Promise<Outcome> {
  const { health, random } = dependencies;
  const able = listAble(dependencies, task);
  const tried = able.filter((target) => task.tried.some((one) => isSameTarget(one, target)));
  const choice = chooseTarget<TaskTarget>(able, { tried, waitMs: health.waitMs, random });
  if (choice.kind === "none") return { kind: "no-target", retryAfterMs: choice.retryAfterMs };
  const { target } = choice;
  return await withInputs(dependencies, task, signal, async (inputs) => {
    const upstream = describeUpstream(dependencies, task, target);
    return { kind: "target-chosen", handover: { target, inputs }, upstream };
  });
}

/** Unusable inputs are the caller's error: no target is tried. */
async function withInputs(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  signal: AbortSignal,
  goOn: (inputs: GenerationInput[]) => Promise<Outcome>,
): Promise<Outcome> {
  let inputs: GenerationInput[];
  try {
    inputs = await loadInputs(dependencies, task, signal);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: "inputs-rejected", error };
  }
  return await goOn(inputs);
}

async function submit(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  handover: Handover,
  signal: AbortSignal,
): Promise<Outcome> {
  const { failpoint } = dependencies;
  const { target } = handover;
  const upstream = describeUpstream(dependencies, task, target);
  const answer = await submitTo(dependencies, task, handover, signal);
  failpoint("submitted");
  if (answer instanceof ProviderError) {
    reportFailure(dependencies, task, { target, error: answer });
    return { kind: "refused", error: answer, upstream };
  }
  if (answer.kind === "ambiguous") reportFailure(dependencies, task, { target, error: answer.error });
  switch (answer.kind) {
    case "accepted":
      return { kind: "accepted", handle: answer.handle, upstream };
    case "done":
      return { kind: "made", outputs: answer.outputs, upstream };
    case "ambiguous":
      return { kind: "ambiguous", upstream };
  }
}

/** Returns the error if the upstream certainly has not started. */
async function submitTo(
  { health }: UpstreamDependencies,
  task: MediaTask,
  handover: Handover,
  signal: AbortSignal,
): Promise<SubmitOutcome | ProviderError> {
  const { target } = handover;
  const role = health.begin(target);
  try {
    const outcome = await target.generation.submit(describeCall(task, handover, signal));
    health.report(target, outcome.kind === "ambiguous" ? describeOutcome(outcome.error) : { kind: "answered" }, role);
    return outcome;
  } catch (error) {
    const isRefused = error instanceof ProviderError;
    health.report(target, isRefused ? describeOutcome(error) : { kind: "abandoned" }, role);
    if (isRefused) return error;
    throw error;
  }
}

/**
 * The worker died in mid-submission. Resubmits only if the upstream deduplicates; otherwise looks the job up, if the
 * upstream can.
 */
async function recover(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  { target: sent }: Extract<Step, { kind: "recover" }>,
  signal: AbortSignal,
): Promise<Outcome> {
  const target = findTarget(dependencies, task, sent);
  if (target === null) return { kind: "ambiguous", upstream: null };
  const { traits, find } = target.generation;
  return await withInputs(dependencies, task, signal, async (inputs) => {
    if (traits.isRepeatable) return await submit(dependencies, task, { target, inputs }, signal);
    const upstream = describeUpstream(dependencies, task, target);
    const handle = (await find?.(describeCall(task, { target, inputs }, signal))) ?? null;
    return handle === null ? { kind: "ambiguous", upstream } : { kind: "accepted", handle, upstream };
  });
}

/** Polls the upstream. A failed poll never fails the task. */
async function poll(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  { target: sent, handle }: UpstreamJob,
  signal: AbortSignal,
): Promise<Outcome> {
  const target = findTarget(dependencies, task, sent);
  if (target === null) return { kind: "route-gone" };
  const upstream = describeUpstream(dependencies, task, target);
  const ask = async () => await target.generation.poll(handle, describePoll(dependencies, task, { target, signal }));
  const answer = await ask().catch((error: unknown) => {
    if (signal.aborted) throw error;
    return toProviderError(error);
  });
  dependencies.failpoint("polled");
  if (answer instanceof ProviderError) {
    reportFailure(dependencies, task, { target, error: answer });
    return { kind: "unreachable", upstream };
  }
  if (answer.kind === "failed") reportFailure(dependencies, task, { target, error: answer.error });
  switch (answer.kind) {
    case "done":
      return { ...answer, kind: "made", upstream };
    case "canceled":
      return { ...answer, kind: "canceled-upstream", upstream };
    default:
      return { ...answer, upstream };
  }
}

/** A failed cancel counts as not accepted: the job goes on, and polling shows how it ends. */
async function stop(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  { target: sent, handle }: UpstreamJob,
  signal: AbortSignal,
): Promise<Outcome> {
  const target = findTarget(dependencies, task, sent);
  if (target === null) return { kind: "route-gone" };
  const { generation } = target;
  const describe = () => describePoll(dependencies, task, { target, signal });
  const ask = async () => await generation.cancel(handle, describe());
  const accepted = await ask().catch((error: unknown) => {
    if (signal.aborted) throw error;
    reportFailure(dependencies, task, { target, error: toProviderError(error) });
    return "requested" as const;
  });
  dependencies.failpoint("cancel-asked");
  if (accepted !== "canceled") return { kind: "stop-refused" };
  const polled = await generation.poll(handle, describe()).catch(() => null);
  const outputs = polled !== null && (polled.kind === "canceled" || polled.kind === "done") ? polled.outputs : [];
  return { kind: "stopped", outputs, upstream: describeUpstream(dependencies, task, target) };
}

async function collect(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  { outputs, as, upstream }: Extract<Step, { kind: "collect" }>,
  signal: AbortSignal,
): Promise<Outcome> {
  const fail = (error: ProviderError, isUseless: boolean): Outcome => {
    reportFailure(dependencies, task, { target: upstream.target, error });
    return { kind: "uncollectable", error, isUseless, as, upstream };
  };
  try {
    const output = await collectOutputs(dependencies, task, { made: outputs, signal });
    if (as === "canceled" || output.length > 0) return { kind: "collected", output, as };
    return fail(new ProviderError("bad-answer", "Nothing usable was made."), true);
  } catch (error) {
    if (signal.aborted || !(error instanceof ProviderError)) throw error;
    return fail(error, false);
  }
}

/** Cancels the job of a task past its deadline, even if its submission was never answered. */
async function abandon(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  { target: sent, handle: known }: Extract<Step, { kind: "abandon" }>,
  signal: AbortSignal,
): Promise<Outcome> {
  const target = findTarget(dependencies, task, sent);
  if (target === null || target.generation.traits.cancels === "never") {
    return { kind: "abandoned", isUpstreamAsked: true };
  }
  const { generation } = target;
  try {
    const call = describePoll(dependencies, task, { target, signal });
    const handle = known ?? (await generation.find?.(call)) ?? null;
    if (handle !== null) await generation.cancel(handle, call);
    return { kind: "abandoned", isUpstreamAsked: true };
  } catch (error) {
    if (signal.aborted) throw error;
    reportFailure(dependencies, task, { target, error: toProviderError(error) });
    return { kind: "abandoned", isUpstreamAsked: false };
  }
}

function describeCall(task: MediaTask, { target, inputs }: Handover, signal: AbortSignal): GenerationCall {
  const { upstreamModel, timeoutMs, provider } = target;
  const apiKey = readApiKey(target);
  const traceparent = provider.trace_context === true ? task.traceparent : null;
  return { taskId: task.id, request: task.request, inputs, upstreamModel, apiKey, timeoutMs, signal, traceparent };
}

/** Polls do not need the inputs, so they are loaded only if the adapter opens one. */
function describePoll(
  dependencies: UpstreamDependencies,
  task: MediaTask,
  { target, signal }: { target: TaskTarget; signal: AbortSignal },
): GenerationCall {
  let loaded: Promise<GenerationInput[]> | null = null;
  const inputs = task.inputs.map(
    ({ role }, index): GenerationInput => ({
      role,
      contentType: "application/octet-stream",
      bytes: 0,
      url: null,
      async open() {
        loaded ??= loadInputs(dependencies, task, signal);
        const input = (await loaded)[index];
        if (input === undefined) throw new ProviderError("rejected", "An input of the task is gone.");
        return await input.open();
      },
    }),
  );
  return describeCall(task, { target, inputs }, signal);
}

function reportFailure(
  { logger, catalog, registry }: UpstreamDependencies,
  { id, accountId, keyId, model }: MediaTask,
  { target, error }: { target: Upstream["target"]; error: ProviderError },
): void {
  const { providerId, upstreamModel, keyNumber } = target;
  const holder = findTaskTarget(listTaskTargets(catalog.current(), model, registry), target);
  const { kind, status, code, said } = describeFailure(error, holder ?? { apiKeyReference: null, provider: {} });
  const place = { upstream: providerId, upstream_model: upstreamModel, upstream_key: keyNumber };
  const spoken = { failure: kind, upstream_status: status, upstream_code: code, said };
  const task = { task_id: id, account_id: accountId, key_id: keyId, model };
  logger.warn({ ...task, ...place, ...spoken, error }, "upstream failed");
}

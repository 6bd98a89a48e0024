import { readIdTime } from "../../../lib/ids.ts";
import { environmentSecrets } from "../../../platform/config/secrets.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import { type Choice, chooseTarget, listUntried } from "../../../providers/choose-target.ts";
import { ProviderError } from "../../../providers/contract.ts";
import { describeFailure } from "../../../providers/failures/describe-failure.ts";
import type { GenerationCall, GenerationInput, SubmitOutcome } from "../../../providers/generation.ts";
import { readApiKey } from "../../../providers/provider-setup.ts";
import { describeOutcome, isBlamed, type UpstreamTarget } from "../../../providers/upstream-health.ts";
import { toProviderError } from "../../calls/index.ts";
import type { Outcome, Step, Upstream, UpstreamJob } from "../machine/task-machine.ts";
import { isComposite, type MediaTask, type Task } from "../task.ts";
import { listClosedPlaces, postponeStarts, readPlaceUse } from "../task-limit-store.ts";
import { countRoom, nameRestingPlace, readTaskLimits, type TaskLimits } from "../task-limits.ts";
import {
  findTaskTarget,
  type Handover,
  isSameTarget,
  listAbleTargets,
  listTaskTargets,
  nameTarget,
  type TaskTarget,
} from "../task-target.ts";
import { collectOutputs } from "./collect-outputs.ts";
import { leaseMs, renewEveryMs } from "./hold-leases.ts";
import { loadInputs } from "./load-inputs.ts";
import type { WorkerDependencies } from "./worker-dependencies.ts";

/** A target without room is chosen last. */
const fullMs = 60_000;
const retryAfterMsMax = 600_000;

/** A step's dependencies, with its task and the signal that aborts it. */
type StepContext = WorkerDependencies & { task: MediaTask; signal: AbortSignal };

/** Runs a step of a media task: calls upstreams and storage, writes nothing of the task, and returns the outcome. */
export async function callUpstream(
  dependencies: WorkerDependencies,
  task: MediaTask,
  { step, signal }: { step: Exclude<Step, { kind: "orchestrate" }>; signal: AbortSignal },
): Promise<Outcome> {
  const context = { ...dependencies, task, signal };
  switch (step.kind) {
    case "choose-target":
      return await choose(context);
    case "submit":
      return await submit(context, step.handover);
    case "recover":
      return await recover(context, step.target);
    case "poll":
      return await poll(context, step.job);
    case "stop":
      return await stop(context, step.job);
    case "collect":
      return await collect(context, step);
    case "abandon":
      return await abandon(context, step);
  }
}

function listAble({ catalog, registry, task }: StepContext): TaskTarget[] {
  return listAbleTargets(listTaskTargets(catalog.current(), task.model, registry), task).able;
}

/** The target that a task was sent to; `null` if the catalog no longer has it. */
function findTarget({ catalog, registry, task }: StepContext, sent: UpstreamTarget): TaskTarget | null {
  return findTaskTarget(listTaskTargets(catalog.current(), task.model, registry), sent);
}

function describeUpstream(context: StepContext, target: TaskTarget): Upstream {
  const { keepsWork, pollMsMin, pollMsMax } = target.generation.traits;
  const able = listAble(context);
  const gone = able.filter((one) => [...context.task.tried, target].some((other) => isSameTarget(one, other)));
  return {
    ...{ keepsWork, pollMsMin, pollMsMax },
    target: nameTarget(target),
    limits: readTaskLimits(target.provider, target.keyNumber),
    hasAlternative: listUntried(able, gone).length > 0,
    jitter: context.random(),
  };
}

async function choose(context: StepContext): Promise<Outcome> {
  const able = listAble(context);
  const choice = chooseAmong(context, able, await readRoom(context, able));
  if (choice.kind === "none") return { kind: "no-target", retryAfterMs: choice.retryAfterMs };
  const { target } = choice;
  return await withInputs(context, async (inputs) => {
    const upstream = describeUpstream(context, target);
    return { kind: "target-chosen", handover: { target, inputs }, upstream };
  });
}

/** What the targets' limits and `Retry-After`s allow at the moment. */
type Room = { closedMs(target: TaskTarget): number; isFull(target: TaskTarget): boolean };

/**
 * A target with room first, then one that the task waits for. Accepted tasks go to a draining target only if no other
 * can take them.
 */
function chooseAmong(
  { health, random, task }: StepContext,
  able: readonly TaskTarget[],
  { closedMs, isFull }: Room,
): Choice<TaskTarget> {
  const tried = able.filter((target) => task.tried.some((one) => isSameTarget(one, target)));
  const acceptedAt = readIdTime(task.parentId ?? task.id) ?? task.createdAt;
  const waits = [health.waitMs, (target: TaskTarget): number => health.waitMsOfAccepted(target, acceptedAt)];
  let choice: Choice<TaskTarget> = { kind: "none", retryAfterMs: null };
  for (const wait of waits) {
    const waitMs = (target: TaskTarget): number => Math.max(wait(target), closedMs(target));
    for (const isLeftOut of [isFull, () => false]) {
      choice = chooseTarget(able, { tried, random, waitMs: (target) => (isLeftOut(target) ? fullMs : waitMs(target)) });
      if (choice.kind === "chosen") return choice;
    }
  }
  return choice;
}

/** Only for the choice: the transaction that starts the task counts again. */
async function readRoom({ database, clock }: StepContext, able: readonly TaskTarget[]): Promise<Room> {
  const now = clock.now();
  const closed = await listClosedPlaces(database, able.map(nameRestingPlace), now);
  const full = new Set<string>();
  const limited = new Map<string, { providerId: string; limits: TaskLimits }>();
  for (const { provider, providerId, keyNumber } of able) {
    const limits = readTaskLimits(provider, keyNumber);
    if (limits !== null) limited.set(limits.place, { providerId, limits });
  }
  for (const { providerId, limits } of limited.values()) {
    const use = await readPlaceUse(database, providerId, limits);
    if (countRoom(limits, use, now) === 0) full.add(limits.place);
  }
  return {
    closedMs: (target) => Math.max(0, (closed.get(nameRestingPlace(target))?.getTime() ?? 0) - now.getTime()),
    isFull: ({ provider, keyNumber }) => full.has(readTaskLimits(provider, keyNumber)?.place ?? ""),
  };
}

/** Unusable inputs are the caller's error: no target is tried. */
async function withInputs(
  context: StepContext,
  goOn: (inputs: GenerationInput[]) => Promise<Outcome>,
): Promise<Outcome> {
  let inputs: GenerationInput[];
  try {
    inputs = await loadInputs(context, context.task, context.signal);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: "inputs-rejected", error };
  }
  return await goOn(inputs);
}

async function submit(context: StepContext, handover: Handover): Promise<Outcome> {
  const { target } = handover;
  const upstream = describeUpstream(context, target);
  const answer = await submitTo(context, handover);
  context.failpoint("submitted");
  if (answer instanceof ProviderError) {
    reportFailure(context, target, answer);
    // Without the note, other gateways find out for themselves; the refusal must not get lost.
    await noteRateLimit(context, target, answer).catch((cause: unknown) =>
      context.logger.warn({ task_id: context.task.id, error: cause }, "rate limit not shared"),
    );
    return { kind: "refused", error: answer, upstream };
  }
  if (answer.kind === "ambiguous") reportFailure(context, target, answer.error);
  switch (answer.kind) {
    case "accepted":
      return { kind: "accepted", handle: answer.handle, upstream };
    case "done":
      return { kind: "made", outputs: answer.outputs, upstream };
    case "ambiguous":
      return { kind: "ambiguous", upstream };
  }
}

/** The tasks of all gateways wait as long as the upstream asks. */
async function noteRateLimit(
  { database, clock }: StepContext,
  target: TaskTarget,
  { kind, retryAfterMs }: ProviderError,
): Promise<void> {
  if (kind !== "rate-limited" || retryAfterMs === null) return;
  const nextAt = new Date(clock.now().getTime() + Math.min(retryAfterMs, retryAfterMsMax));
  await postponeStarts(database, nameRestingPlace(target), nextAt);
}

/** Returns the error if the upstream certainly has not started. */
async function submitTo(context: StepContext, handover: Handover): Promise<SubmitOutcome | ProviderError> {
  const { health, clock } = context;
  const { target } = handover;
  const role = health.begin(target);
  const startedMs = clock.monotonicMs();
  try {
    const outcome = await target.generation.submit(describeCall(context, handover));
    health.report(target, outcome.kind === "ambiguous" ? describeOutcome(outcome.error) : { kind: "answered" }, role);
    if (outcome.kind === "done") notePace(context, target, clock.monotonicMs() - startedMs);
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
async function recover(context: StepContext, sent: UpstreamTarget): Promise<Outcome> {
  const target = findTarget(context, sent);
  if (target === null) return { kind: "ambiguous", upstream: null };
  const { traits, find } = target.generation;
  return await withInputs(context, async (inputs) => {
    if (traits.isRepeatable) return await submit(context, { target, inputs });
    const upstream = describeUpstream(context, target);
    const handle = (await find?.(describeCall(context, { target, inputs }))) ?? null;
    return handle === null ? { kind: "ambiguous", upstream } : { kind: "accepted", handle, upstream };
  });
}

/** Polls the upstream. A failed poll never fails the task. */
async function poll(context: StepContext, { target: sent, handle }: UpstreamJob): Promise<Outcome> {
  const target = findTarget(context, sent);
  if (target === null) return { kind: "route-gone" };
  const upstream = describeUpstream(context, target);
  const soonestAt = findSoonestPoll(context.task, upstream);
  if (context.clock.now() < soonestAt) return { kind: "waiting", until: soonestAt };
  const ask = async () => await target.generation.poll(handle, describePoll(context, target));
  const answer = await ask().catch((error: unknown) => {
    if (context.signal.aborted) throw error;
    return toProviderError(error);
  });
  context.failpoint("polled");
  if (answer instanceof ProviderError) {
    reportFailure(context, target, answer);
    return { kind: "unreachable", retryAfterMs: answer.retryAfterMs, upstream };
  }
  if (answer.kind === "failed") {
    reportFailure(context, target, answer.error);
    if (isBlamed(describeOutcome(answer.error))) target.pace?.noteFailure(context.clock.monotonicMs());
  }
  switch (answer.kind) {
    case "done":
      notePace(
        context,
        target,
        context.clock.now().getTime() - (context.task.submittedAt ?? context.clock.now()).getTime(),
      );
      return { ...answer, kind: "made", upstream };
    case "canceled":
      return { ...answer, kind: "canceled-upstream", upstream };
    default:
      return { ...answer, upstream };
  }
}

/** How long the task's upstream must not be polled after a step that may have polled it. */
export function findPollPause(
  { catalog, registry }: Pick<WorkerDependencies, "catalog" | "registry">,
  task: Task,
): number {
  if (task.phase !== "running" || isComposite(task)) return 0;
  const target = findTaskTarget(listTaskTargets(catalog.current(), task.model, registry), task.target);
  return target?.generation.traits.pollMsMin ?? 0;
}

/** A worker that died may have polled until its next renewal failed to come; twice the interval, as it may have been slow. */
function findSoonestPoll({ abandonedAt }: MediaTask, { pollMsMin }: Upstream): Date {
  if (abandonedAt === null) return new Date(0);
  const polledMs = abandonedAt.getTime() - leaseMs + 2 * renewEveryMs;
  return new Date(polledMs + pollMsMin);
}

/** How long the upstream took; only for models with a routing policy. */
function notePace({ clock }: StepContext, { pace }: TaskTarget, tookMs: number): void {
  pace?.noteAnswer("whole", tookMs, clock.monotonicMs());
}

/** A failed cancel counts as not accepted: the job goes on, and polling shows how it ends. */
async function stop(context: StepContext, { target: sent, handle }: UpstreamJob): Promise<Outcome> {
  const target = findTarget(context, sent);
  if (target === null) return { kind: "route-gone" };
  const { generation } = target;
  const describe = () => describePoll(context, target);
  const ask = async () => await generation.cancel(handle, describe());
  const accepted = await ask().catch((error: unknown) => {
    if (context.signal.aborted) throw error;
    reportFailure(context, target, toProviderError(error));
    return "requested" as const;
  });
  context.failpoint("cancel-asked");
  if (accepted !== "canceled") return { kind: "stop-refused" };
  const polled = await generation.poll(handle, describe()).catch(() => null);
  const outputs = polled !== null && (polled.kind === "canceled" || polled.kind === "done") ? polled.outputs : [];
  return { kind: "stopped", outputs, upstream: describeUpstream(context, target) };
}

async function collect(
  context: StepContext,
  { outputs, as, upstream }: Extract<Step, { kind: "collect" }>,
): Promise<Outcome> {
  const { task, signal } = context;
  const fail = (error: ProviderError, isUseless: boolean): Outcome => {
    reportFailure(context, upstream.target, error);
    return { kind: "uncollectable", error, isUseless, as, upstream };
  };
  try {
    const output = await collectOutputs(context, task, { made: outputs, signal });
    if (as === "canceled" || output.length > 0) return { kind: "collected", output, as };
    return fail(new ProviderError("bad-answer", "Nothing usable was made."), true);
  } catch (error) {
    if (signal.aborted || !(error instanceof ProviderError)) throw error;
    return fail(error, false);
  }
}

/** Cancels the job of a task past its deadline, even if its submission was never answered. */
async function abandon(
  context: StepContext,
  { target: sent, handle: known }: Extract<Step, { kind: "abandon" }>,
): Promise<Outcome> {
  const target = findTarget(context, sent);
  if (target === null || target.generation.traits.cancels === "never") {
    return { kind: "abandoned", isUpstreamAsked: true };
  }
  const { generation } = target;
  try {
    const call = describePoll(context, target);
    const handle = known ?? (await generation.find?.(call)) ?? null;
    if (handle !== null) await generation.cancel(handle, call);
    return { kind: "abandoned", isUpstreamAsked: true };
  } catch (error) {
    if (context.signal.aborted) throw error;
    reportFailure(context, target, toProviderError(error));
    return { kind: "abandoned", isUpstreamAsked: false };
  }
}

function describeCall({ task, signal, hooks }: StepContext, { target, inputs }: Handover): GenerationCall {
  const { upstreamModel, timeoutMs, provider, route } = target;
  const apiKey = readApiKey(target);
  const traceparent = provider.trace_context === true ? task.traceparent : null;
  const { request } = task;
  const callback = hooks.find(task.id);
  return { taskId: task.id, request, inputs, route, upstreamModel, apiKey, timeoutMs, signal, traceparent, callback };
}

/** Polls do not need the inputs, so they are loaded only if the adapter opens one. */
function describePoll(context: StepContext, target: TaskTarget): GenerationCall {
  const { task, signal } = context;
  let loaded: Promise<GenerationInput[]> | null = null;
  const inputs = task.inputs.map(
    ({ role }, index): GenerationInput => ({
      role,
      contentType: "application/octet-stream",
      bytes: 0,
      url: null,
      async open() {
        loaded ??= loadInputs(context, task, signal);
        const input = (await loaded)[index];
        if (input === undefined) throw new ProviderError("rejected", "An input of the task is gone.");
        return await input.open();
      },
    }),
  );
  return describeCall(context, { target, inputs });
}

function reportFailure(context: StepContext, target: UpstreamTarget, error: ProviderError): void {
  const { id, accountId, keyId, model } = context.task;
  const { providerId, upstreamModel, keyNumber } = target;
  const holder = findTarget(context, target) ?? { apiKeyReference: null, provider: {}, secrets: environmentSecrets };
  const { kind, status, code, said } = describeFailure(error, holder);
  const place = { upstream: providerId, upstream_model: upstreamModel, upstream_key: keyNumber };
  const spoken = { failure: kind, upstream_status: status, upstream_code: code, said };
  const task = { task_id: id, account_id: accountId, key_id: keyId, model };
  context.logger.warn({ ...task, ...place, ...spoken, error }, "upstream failed");
}

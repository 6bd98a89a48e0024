import { findMedian } from "../measure-cpu.ts";
import { presentTable } from "../write-results.ts";
import { type CrowdJob, type CrowdKind, callsBack, crowdKinds, readFloorMs } from "./vendor-crowd.ts";

/** A task as the gateways left it. */
export type CrowdTask = {
  id: string;
  kind: CrowdKind;
  state: string;
  prompt: string | null;
  errorCode: string | null;
  endedAt: number | null;
  charge: string;
  hold: string | null;
};

/** The records of the vendors, and the gateways' own state. */
export type CrowdEvidence = {
  tasks: readonly CrowdTask[];
  jobs: readonly CrowdJob[];
  complaints: readonly string[];
  faults: ReadonlyMap<string, number>;
  openHolds: number;
  /** How many final events each task has. */
  events: ReadonlyMap<string, number>;
  /** The findings of `ledger verify`; empty when there are none. */
  verdict: string;
  /** The output of gateways that exited on their own. */
  crashes: readonly string[];
};

const finalStates: readonly string[] = ["succeeded", "failed", "canceled", "expired"];

/** Every broken promise, in words; empty if all are kept. */
export function checkCrowd(evidence: CrowdEvidence): string[] {
  const { tasks, complaints, openHolds, events, verdict, crashes } = evidence;
  const findings = tasks.flatMap((task) => {
    const jobs = findJobs(evidence, task);
    const about = `${task.id} at ${task.kind} (${task.state})`;
    const found: string[] = [];
    if (!finalStates.includes(task.state)) found.push("did not end");
    if ((events.get(task.id) ?? 0) !== 1) found.push(`has ${events.get(task.id) ?? 0} final events`);
    if (task.hold !== null && (task.hold === "settled") !== (task.state === "succeeded"))
      found.push(`its hold is ${task.hold}`);
    if (jobs.length > 1) found.push(`was submitted ${jobs.length} times`);
    const [job] = jobs;
    // Without a job the submission was refused for certain.
    if (task.state === "failed" && job?.fails === false)
      found.push(`failed with ${task.errorCode}, and its job did not`);
    if (task.state === "succeeded" && (job === undefined || job.fails)) found.push("succeeded without a job");
    if (task.state === "expired" && job !== undefined && !job.isUnanswered && job.polledAt.length > 0)
      found.push("expired");
    return found.map((what) => `${about} ${what}`);
  });
  return [
    ...findings,
    ...evidence.jobs.flatMap(findHastyPolls),
    ...complaints.map((complaint) => `a vendor would refuse this: ${complaint}`),
    ...(openHolds > 0 ? [`${openHolds} holds are open`] : []),
    ...(verdict === "" ? [] : [`ledger verify: ${verdict}`]),
    ...crashes.map((crash) => `a gateway ended by itself: ${crash}`),
  ];
}

/** The jobs of a task: by its prompt, or by the task's id in the address for callbacks. */
function findJobs({ jobs }: CrowdEvidence, { id, prompt }: CrowdTask): CrowdJob[] {
  return jobs.filter(({ about }) => about === prompt || about.startsWith(`/hooks/${id}.`));
}

function findHastyPolls({ kind, id, polledAt }: CrowdJob): string[] {
  const floorMs = readFloorMs(kind);
  return polledAt.flatMap((at, index) => {
    const gapMs = at - (polledAt[index - 1] ?? Number.NEGATIVE_INFINITY);
    return gapMs < floorMs ? [`${id} of ${kind} was polled again after ${gapMs} ms, its floor is ${floorMs} ms`] : [];
  });
}

/** From the end of a job to the end of its task, in milliseconds. */
function listLags(evidence: CrowdEvidence, kinds: readonly CrowdKind[]): number[] {
  const endByJob = new Map(
    evidence.jobs.map(({ about, endsAt }) => [about.replace(/^\/hooks\/([^.]+)\..*$/, "$1"), endsAt]),
  );
  return evidence.tasks.flatMap(({ id, kind, state, prompt, endedAt }) => {
    const jobEndedAt = endByJob.get(prompt ?? id) ?? endByJob.get(id);
    if (state !== "succeeded" || !kinds.includes(kind) || jobEndedAt === undefined || endedAt === null) return [];
    return [endedAt - jobEndedAt];
  });
}

/** From the end of a job to the poll that finds it: without the time that its output takes on this machine. */
function listFindings(jobs: readonly CrowdJob[], kinds: readonly CrowdKind[]): number[] {
  return jobs.flatMap(({ kind, endsAt, polledAt }) => {
    const foundAt = polledAt.find((at) => at >= endsAt);
    return foundAt === undefined || !kinds.includes(kind) ? [] : [foundAt - endsAt];
  });
}

export function presentCrowd(
  evidence: CrowdEvidence,
  run: { tookMs: number; kills: number; stops: number; seed: number; openMax: number },
  findings: readonly string[],
): string {
  const { tasks, jobs, faults } = evidence;
  const median = (kinds: readonly CrowdKind[]): string => {
    const lags = listLags(evidence, kinds);
    return lags.length === 0 ? "" : `${(findMedian(lags) / 1000).toFixed(1)} s`;
  };
  const rows = crowdKinds.map((kind) => {
    const own = tasks.filter((task) => task.kind === kind);
    const count = (state: string): string => String(own.filter((task) => task.state === state).length);
    const polls = jobs.filter((job) => job.kind === kind).reduce((sum, { polledAt }) => sum + polledAt.length, 0);
    const hook = callsBack(kind) ? "yes" : "no";
    return [
      kind,
      String(own.length),
      count("succeeded"),
      count("failed"),
      count("expired"),
      String(polls),
      hook,
      median([kind]),
    ];
  });
  const medianFound = (kinds: readonly CrowdKind[]): string =>
    `${(findMedian(listFindings(jobs, kinds)) / 1000).toFixed(1)} s`;
  const withHooks = crowdKinds.filter(callsBack);
  const without = crowdKinds.filter((kind) => !callsBack(kind));
  return [
    `Up to ${run.openMax} tasks at a time for ${(run.tookMs / 1000).toFixed(0)} s, ${run.kills} gateways killed and ${run.stops} stopped, ` +
      `seed ${run.seed}: ${tasks.length} tasks, ${jobs.length} jobs, **${findings.length} broken promises**. ` +
      `From the vendor's end to ours, median: **${median(withHooks)}** with callbacks, ${median(without)} without; ` +
      `to the poll that finds it: **${medianFound(withHooks)}** with callbacks, ${medianFound(without)} without.`,
    presentTable(
      ["vendor", "tasks", "succeeded", "failed or refused", "never answered", "polls", "calls back", "lag"],
      rows,
    ),
    presentTable(
      ["fault", "met"],
      [...faults].toSorted().map(([fault, met]) => [fault, String(met)]),
    ),
  ].join("\n\n");
}

// @module-tag extended
import { expect, test } from "vitest";
import { type CrowdEvidence, checkCrowd, presentCrowd } from "../../bench/chaos/check-crowd.ts";
import { runCrowd } from "../../bench/chaos/crowd.ts";
import { crowdKinds } from "../../bench/chaos/vendor-crowd.ts";
import { externalBinaries } from "../harness/servers/external-postgres.ts";
import { testSeed } from "../harness/test-seed.ts";

test.skipIf(externalBinaries === null)(
  "tasks at all vendors end once under faults, callbacks and kills, and the checker finds every falsified record",
  { timeout: 300_000 },
  async () => {
    const openMax = 2 * crowdKinds.length;
    const run = await runCrowd({
      ...{ seed: testSeed, openMax, durationMs: 6_000, jobMs: { least: 500, more: 3_000 } },
      ...{ nodesCount: 2, killEveryMs: 2_500, onEvent: () => {} },
    });
    const findings = checkCrowd(run);
    console.log(presentCrowd(run, { ...run, seed: testSeed, openMax }, findings));
    if (findings.length > 0) console.log(run.log.slice(-20_000));
    expect(findings).toEqual([]);
    // Otherwise the checker has nothing to check.
    expect(run.kills + run.stops).toBeGreaterThan(0);
    expect(new Set(run.tasks.map(({ kind }) => kind))).toEqual(new Set(crowdKinds));
    for (const [name, lie] of Object.entries(lies)) expect(checkCrowd(lie(run)).length, name).toBeGreaterThan(0);
  },
);

const lies: Record<string, (evidence: CrowdEvidence) => CrowdEvidence> = {
  "a job was submitted twice": (evidence) => ({ ...evidence, jobs: [...evidence.jobs, ...evidence.jobs] }),
  "a task did not end": (evidence) => ({
    ...evidence,
    tasks: evidence.tasks.map((task, index) => (index === 0 ? { ...task, state: "processing" } : task)),
  }),
  "a task failed although its job did not": (evidence) => ({
    ...evidence,
    tasks: evidence.tasks.map((task) => (task.state === "succeeded" ? { ...task, state: "failed" } : task)),
  }),
  "a task has two final events": (evidence) => ({
    ...evidence,
    events: new Map([...evidence.events].map(([id]) => [id, 2])),
  }),
  "a hold is open": (evidence) => ({ ...evidence, openHolds: 1 }),
  "a job was polled too soon": (evidence) => ({
    ...evidence,
    jobs: evidence.jobs.map((job) => ({ ...job, polledAt: [...job.polledAt, (job.polledAt.at(-1) ?? 0) + 1] })),
  }),
};

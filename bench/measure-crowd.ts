import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkCrowd, presentCrowd } from "./chaos/check-crowd.ts";
import { runCrowd } from "./chaos/crowd.ts";
import { writeResults } from "./write-results.ts";

/** Many open tasks at all vendors at once, with faults by chance, callbacks, and gateways that are killed. */
export async function measureCrowd(words: string[]): Promise<void> {
  const { values } = parseArgs({
    args: words,
    options: {
      seconds: { type: "string", default: "600" },
      open: { type: "string", default: "500" },
      seed: { type: "string", default: String(randomInt(1_000_000)) },
      /** The jobs' length in seconds, from half of it to one and a half. */
      job: { type: "string", default: "90" },
    },
  });
  const [seed, openMax, jobMs] = [Number(values.seed), Number(values.open), Number(values.job) * 1000];
  console.log(`seed ${seed}`);
  const startedAt = performance.now();
  const run = await runCrowd({
    ...{ seed, openMax, nodesCount: 2, killEveryMs: 15_000 },
    durationMs: Number(values.seconds) * 1000,
    jobMs: { least: jobMs / 2, more: jobMs },
    onEvent: (what) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${what}`),
  });
  const findings = checkCrowd(run);
  writeResults("crowd", presentCrowd(run, { ...run, seed, openMax }, findings));
  if (findings.length === 0) return;
  for (const finding of findings.slice(0, 100)) console.error(finding);
  const logFile = join(tmpdir(), `sluice-crowd-${seed}.log`);
  writeFileSync(logFile, run.log);
  console.error(`Replay it with --seed ${seed}; what the gateways wrote is in ${logFile}.`);
  process.exitCode = 1;
}

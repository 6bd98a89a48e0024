// Gateways as users run them, under load and under faults, checked only by what was sent and received: `npm run chaos
// -- --faults 1000 --seed 7`. The same seed injects the same faults and runs the same operations.
import { randomInt } from "node:crypto";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeResults } from "../write-results.ts";
import { runChaos } from "./chaos.ts";
import { checkBooks } from "./check-books.ts";
import { presentRun } from "./present-run.ts";

// Exit handlers stop everything that a run has started; a signal alone would skip them.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const { values } = parseArgs({
  options: {
    faults: { type: "string", default: "48" },
    seed: { type: "string", default: String(randomInt(1_000_000)) },
    nodes: { type: "string", default: "3" },
    callers: { type: "string", default: "12" },
    /** Stores the figures in bench/RESULTS.md. */
    keep: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed);
console.log(`seed ${seed}`);
const run = await runChaos({
  seed,
  faultsCount: Number(values.faults),
  nodesCount: Number(values.nodes),
  callersCount: Number(values.callers),
  onFault: ({ number, kind, node }) =>
    console.log(`${String(number + 1).padStart(5)}  ${kind}${kind.startsWith("a gateway") ? ` (${node})` : ""}`),
});
const findings = checkBooks(run.evidence);
const text = presentRun(run, findings, seed);
if (values.keep) writeResults("chaos", text);
else console.log(`\n${text}`);
if (findings.length > 0) {
  for (const { kind, about, what } of findings) console.error(`${kind}: ${about}: ${what}`);
  const logFile = join(tmpdir(), `sluice-chaos-${seed}.log`);
  writeFileSync(logFile, run.log);
  console.error(`Replay it with --seed ${seed}; what the gateways wrote is in ${logFile}.`);
}
// Sockets of the load may linger.
process.exit(findings.length === 0 ? 0 : 1);

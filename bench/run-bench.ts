// Measures side by side in one run: `npm run bench -- edge`. Compare ratios and goals, not numbers of different runs or
// machines.
import { measureAgents } from "./measure-agents.ts";
import { measureCaching } from "./measure-caching.ts";
import { measureChat } from "./measure-chat.ts";
import { measureCrowd } from "./measure-crowd.ts";
import { measureEdge } from "./measure-edge.ts";
import { measureEndurance } from "./measure-endurance.ts";
import { measureGarbage } from "./measure-garbage.ts";
import { measureGate } from "./measure-gate.ts";
import { measureGrowth } from "./measure-growth.ts";
import { measureHistory } from "./measure-history.ts";
import { measureLedger } from "./measure-ledger.ts";
import { measureNodes } from "./measure-nodes.ts";
import { measureOperators } from "./measure-operators.ts";
import { measurePaint } from "./measure-paint.ts";
import { measureProcesses } from "./measure-processes.ts";
import { measureQueue } from "./measure-queue.ts";
import { measureRequests } from "./measure-requests.ts";
import { measureRollout } from "./measure-rollout.ts";
import { measureStreams } from "./measure-streams.ts";
import { measureTasks } from "./measure-tasks.ts";
import { measureVariants } from "./measure-variants.ts";

const benches: Record<string, (words: string[]) => Promise<void>> = {
  agents: measureAgents,
  caching: measureCaching,
  chat: measureChat,
  crowd: measureCrowd,
  edge: measureEdge,
  endurance: measureEndurance,
  garbage: measureGarbage,
  gate: measureGate,
  growth: measureGrowth,
  history: measureHistory,
  ledger: measureLedger,
  nodes: measureNodes,
  operators: measureOperators,
  paint: measurePaint,
  processes: measureProcesses,
  queue: measureQueue,
  requests: measureRequests,
  rollout: measureRollout,
  streams: measureStreams,
  tasks: measureTasks,
  variants: measureVariants,
};

// Exit handlers stop everything that a bench has started; a signal alone would skip them.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const [name = "", ...words] = process.argv.slice(2);
const run = benches[name];
if (run === undefined) {
  console.error(`Write which: npm run bench -- ${Object.keys(benches).join("|")}`);
  process.exitCode = 2;
} else {
  await run(words);
}

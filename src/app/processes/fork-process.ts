import cluster, { type Worker } from "node:cluster";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { invariant } from "../../lib/invariant.ts";
import type { ProcessMessage, SupervisorMessage } from "./process-messages.ts";

/** The counters have a line of their own: on the one for messages, sockets would hold up what calls wait for. */
export const countersFd = 4;

export type ForkedProcess = {
  processId: number;
  counters: Duplex;
  tell(message: SupervisorMessage): void;
  onMessage(hear: (message: ProcessMessage) => void): void;
  exited: Promise<{ code: number | null; signal: string | null }>;
  kill(): void;
};

const mainFile = join(import.meta.dirname, "../../main.ts");

/**
 * Starts `serve` once more, as a process that shares this one's port: all of them accept from one queue of the system, so
 * that a connection which nobody has accepted yet outlives every one of them.
 */
export function forkProcess(): ForkedProcess {
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({
    exec: mainFile,
    args: ["serve"],
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc", "pipe"],
  });
  const worker: Worker = cluster.fork();
  const counters = worker.process.stdio[countersFd];
  invariant(counters instanceof Duplex, "a process is started with a line for its counters");
  // A process that is gone is noticed by its exit.
  worker.on("error", () => {});
  return {
    processId: worker.process.pid ?? 0,
    counters,
    tell: (message) => void (worker.isConnected() && worker.send(message)),
    onMessage: (hear) => void worker.on("message", hear),
    exited: new Promise((settle) => worker.once("exit", (code, signal) => settle({ code, signal }))),
    kill: () => void worker.process.kill("SIGKILL"),
  };
}

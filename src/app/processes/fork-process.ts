import cluster, { type Worker } from "node:cluster";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { invariant } from "../../lib/invariant.ts";
import { findProgram } from "../../platform/confinement/node-program.ts";
import type { ProcessMessage, SupervisorMessage } from "./process-messages.ts";

/** A separate channel for counters: on the IPC channel, passed sockets would delay them. */
export const countersFd = 4;

export type ForkedProcess = {
  processId: number;
  counters: Duplex;
  tell(message: SupervisorMessage): void;
  onMessage(hear: (message: ProcessMessage) => void): void;
  exited: Promise<{ code: number | null; signal: string | null }>;
  kill(): void;
};

const mainFile = findProgram(join(import.meta.dirname, "../../main.ts"));

/**
 * Forks `serve`. All processes accept from one kernel queue, so connections that are not accepted yet survive the exit of
 * any process.
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
  invariant(counters instanceof Duplex, "a process needs a channel for its counters");
  // `exit` reports a dead process.
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

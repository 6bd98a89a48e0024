import cluster from "node:cluster";
import { once } from "node:events";
import { Socket } from "node:net";
import { invariant } from "../../lib/invariant.ts";
import type { KeptMail } from "../../platform/mail/mail-outbox.ts";
import type { Gateway } from "../start-gateway.ts";
import { countersFd } from "./fork-process.ts";
import type { ProcessMessage, SupervisorMessage } from "./process-messages.ts";
import type { Siblings } from "./siblings.ts";

export type Supervision = {
  /** Names the gateway among others on its database. */
  group: string;
  siblings: Siblings;
  /** Calls back once the supervisor wants this process to end. */
  onStop(stop: (wanted: { delayMs: number; alone: boolean }) => void): void;
  /** Says that this process serves, and from now on how many connections it has. */
  tellReady(gateway: Gateway): void;
  /** The end: nothing keeps this process any longer. */
  leave(): void;
};

const reportEveryMs = 1000;

/** This process's end of what connects it to its supervisor. A supervisor that is gone ends it at once. */
export async function joinSupervisor(): Promise<Supervision> {
  const { worker } = cluster;
  invariant(worker !== undefined, "only a process of a supervisor can join it");
  const [begin] = (await once(process, "message")) as [SupervisorMessage];
  invariant(begin.kind === "begin", "a supervisor says first what its processes have to know");
  const tell = (message: ProcessMessage): void => void (worker.isConnected() && worker.send(message));
  const counters = new Socket({ fd: countersFd, readable: true, writable: true });
  let mails: readonly KeptMail[] = begin.mails;
  let stop: (wanted: { delayMs: number; alone: boolean }) => void = () => {};
  let gateway: Gateway | null = null;
  let isLead = false;
  let reports: NodeJS.Timeout | undefined;

  process.on("message", (message: SupervisorMessage) => {
    if (message.kind === "mails") mails = message.mails;
    else if (message.kind === "lead") isLead = true;
    else if (message.kind === "collect") void collect(message.number);
    else if (message.kind === "stop") stop(message);
    else if (message.kind === "shed") gateway?.connections.shed(message.connections);
  });

  async function collect(number: number): Promise<void> {
    const metrics = (await gateway?.collectMetrics()) ?? [];
    tell({ kind: "collected", number, metrics });
  }

  return {
    group: begin.group,
    siblings: {
      processes: begin.processes,
      counters,
      outbox: { keep: (mail) => tell({ kind: "mail", mail }), list: () => mails },
      isLead: () => isLead,
    },
    onStop(callback) {
      stop = callback;
    },
    tellReady(started) {
      gateway = started;
      const { port, metricsPort, firstRun, outboxUrl, notices } = started;
      tell({ kind: "ready", welcome: { port, metricsPort, firstRun, outboxUrl, notices } });
      reports = setInterval(
        () => tell({ kind: "connections", count: started.connections.count() }),
        reportEveryMs,
      ).unref();
    },
    leave() {
      clearInterval(reports);
      // Nobody else closes it where the start has failed before anything was counted.
      counters.destroy();
      worker.disconnect();
    },
  };
}

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
  /** The gateway's id among others on its database. */
  group: string;
  siblings: Siblings;
  /** Called when the supervisor stops this process. */
  onStop(stop: (wanted: { delayMs: number; alone: boolean }) => void): void;
  /** Reports readiness, and from then on the number of connections. */
  reportReady(gateway: Gateway): void;
  /** Releases the channels, so that the process can exit. */
  leave(): void;
};

const reportEveryMs = 1000;

/** Connects this process to its supervisor. Exits if the supervisor dies. */
export async function joinSupervisor(): Promise<Supervision> {
  const { worker } = cluster;
  invariant(worker !== undefined, "not started by a supervisor");
  const [begin] = (await once(process, "message")) as [SupervisorMessage];
  invariant(begin.kind === "begin", "the first message must be begin");
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
    reportReady(started) {
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
      // Still open if the start failed before the counters were created.
      counters.destroy();
      worker.disconnect();
    },
  };
}

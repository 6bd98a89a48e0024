import { setTimeout as wait } from "node:timers/promises";

export type ProbedReadiness = { probes: number; failures: number; slowestMs: number };

const everyMs = 100;
/** The default probe time-out of orchestrators. */
const probeMsMax = 1000;

/** Polls a gateway's readiness, each time on a new connection, like a load balancer. */
export function probeReadiness(port: number): { stop(): Promise<ProbedReadiness> } {
  const stopping = new AbortController();
  const found: ProbedReadiness = { probes: 0, failures: 0, slowestMs: 0 };
  const probe = async (): Promise<void> => {
    const startedAtMs = performance.now();
    const isReady = await askWhetherReady(port).catch(() => false);
    found.probes += 1;
    if (!isReady) found.failures += 1;
    found.slowestMs = Math.max(found.slowestMs, performance.now() - startedAtMs);
  };
  const probing = (async () => {
    while (!stopping.signal.aborted) {
      await probe();
      await wait(everyMs);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await probing;
      return found;
    },
  };
}

async function askWhetherReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`, {
    headers: { connection: "close" },
    signal: AbortSignal.timeout(probeMsMax),
  });
  await answer.arrayBuffer();
  return answer.ok;
}

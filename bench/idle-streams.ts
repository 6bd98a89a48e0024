import { setTimeout as wait } from "node:timers/promises";
import { openInspector } from "./inspect-process.ts";
import { type LoadConnection, openLoadConnection } from "./load-connection.ts";
import { type ProbedReadiness, probeReadiness } from "./probe-readiness.ts";
import { readDescriptorsMax, readResidentBytes } from "./process-figures.ts";

export type IdleStreams = {
  connections: LoadConnection[];
  bytesEach: number;
  /** How many were opened per second, and how long the last of them took to start. */
  perSecond: number;
  lastMs: number;
  /** The readiness that a load balancer saw meanwhile. */
  readiness: ProbedReadiness;
};

const perTick = 10;
const tickMs = 10;
const warmUpCount = 500;
/** The descriptors that a process has open besides its streams. */
const otherDescriptors = 500;

/**
 * How many streams can be open through a gateway, which needs two descriptors for each, within the limits of all
 * processes.
 */
export function countPossibleStreams(
  wanted: number,
  processIds: { gateway: number; upstream: number; client: number },
): number {
  const gateway = (readDescriptorsMax(processIds.gateway) - otherDescriptors) / 2;
  const others = Math.min(readDescriptorsMax(processIds.upstream), readDescriptorsMax(processIds.client));
  return Math.max(0, Math.floor(Math.min(wanted, gateway, others - otherDescriptors)));
}

/** Opens streams that have started and stay silent, and measures the gateway's memory for each. */
export async function openIdleStreams(
  gateway: { port: number; processId: number; inspectPort: number },
  { request, count }: { request: Buffer; count: number },
): Promise<IdleStreams> {
  const inspector = await openInspector({ processId: gateway.processId, port: gateway.inspectPort });
  // The first streams of a process have one-time costs.
  closeAll((await openMany(gateway.port, request, warmUpCount)).connections);
  await inspector.collectGarbage();
  const before = readResidentBytes(gateway.processId);
  const probe = probeReadiness(gateway.port);
  const opened = await openMany(gateway.port, request, count);
  const readiness = await probe.stop();
  await inspector.collectGarbage();
  const after = readResidentBytes(gateway.processId);
  inspector.close();
  return { ...opened, readiness, bytesEach: (after - before) / count };
}

/** Opens a thousand a second, whether or not the earlier ones have started. */
async function openMany(
  port: number,
  request: Buffer,
  count: number,
): Promise<Omit<IdleStreams, "bytesEach" | "readiness">> {
  const opening: Promise<LoadConnection>[] = [];
  const open = async (): Promise<LoadConnection> => {
    const connection = await openLoadConnection(port);
    await connection.begin(request);
    return connection;
  };
  const startedAtMs = performance.now();
  for (let tick = 0; opening.length < count; tick += 1) {
    const due = Math.min(count, (tick + 1) * perTick);
    while (opening.length < due) opening.push(open());
    const sleepMs = startedAtMs + (tick + 1) * tickMs - performance.now();
    if (sleepMs > 0) await wait(sleepMs);
  }
  const askedAtMs = performance.now();
  const connections = await Promise.all(opening);
  return {
    connections,
    perSecond: count / ((askedAtMs - startedAtMs) / 1000),
    lastMs: performance.now() - askedAtMs,
  };
}

export function closeAll(connections: readonly LoadConnection[]): void {
  for (const connection of connections) connection.close();
}

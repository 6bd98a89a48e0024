import { openInspector } from "./inspect-process.ts";
import { type LoadConnection, openLoadConnection } from "./load-connection.ts";
import { readDescriptorsMax, readResidentBytes } from "./process-figures.ts";

export type IdleStreams = { connections: LoadConnection[]; bytesEach: number };

const atOnce = 100;
const warmUpCount = 500;
/** What a process has open beside its streams. */
const otherDescriptors = 500;

/** How many streams can be open through a gateway, which needs two descriptors for each, as far as all may open files. */
export function countPossibleStreams(
  wanted: number,
  processIds: { gateway: number; upstream: number; client: number },
): number {
  const gateway = (readDescriptorsMax(processIds.gateway) - otherDescriptors) / 2;
  const others = Math.min(readDescriptorsMax(processIds.upstream), readDescriptorsMax(processIds.client));
  return Math.max(0, Math.floor(Math.min(wanted, gateway, others - otherDescriptors)));
}

/** Opens streams that have begun and say nothing more, and measures what the gateway keeps for each. */
export async function openIdleStreams(
  gateway: { port: number; processId: number; inspectPort: number },
  { request, count }: { request: Buffer; count: number },
): Promise<IdleStreams> {
  const inspector = await openInspector({ processId: gateway.processId, port: gateway.inspectPort });
  // What the first streams of a process cost is no matter of the streams.
  closeAll(await openMany(gateway.port, request, warmUpCount));
  await inspector.collectGarbage();
  const before = readResidentBytes(gateway.processId);
  const connections = await openMany(gateway.port, request, count);
  await inspector.collectGarbage();
  const after = readResidentBytes(gateway.processId);
  inspector.close();
  return { connections, bytesEach: (after - before) / count };
}

async function openMany(port: number, request: Buffer, count: number): Promise<LoadConnection[]> {
  const opened: LoadConnection[] = [];
  const open = async (): Promise<void> => {
    const connection = await openLoadConnection(port);
    opened.push(connection);
    await connection.begin(request);
  };
  while (opened.length < count) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - opened.length) }, open));
  }
  return opened;
}

export function closeAll(connections: readonly LoadConnection[]): void {
  for (const connection of connections) connection.close();
}

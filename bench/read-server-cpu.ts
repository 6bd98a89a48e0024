import { existsSync } from "node:fs";
import { readFamilyCpuUs, readStat } from "./process-figures.ts";

/**
 * CPU time of a whole PostgreSQL, in microseconds: the server, its processes, and those of them that have ended. It is
 * found by one of its backends. `null` where the system does not tell.
 */
export function readServerCpuUs(backendId: number): number | null {
  if (!existsSync("/proc/self/stat")) return null;
  const serverId = readStat(backendId)?.parentId;
  return serverId === undefined ? null : readFamilyCpuUs(serverId);
}

import { existsSync } from "node:fs";
import { readFamilyCpuUs, readStat } from "./process-figures.ts";

/**
 * CPU time of a whole PostgreSQL, in microseconds: the server and all its processes, including ended ones. It is found
 * by one of its backends. `null` if the system does not report it.
 */
export function readServerCpuUs(backendId: number): number | null {
  if (!existsSync("/proc/self/stat")) return null;
  const serverId = readStat(backendId)?.parentId;
  return serverId === undefined ? null : readFamilyCpuUs(serverId);
}

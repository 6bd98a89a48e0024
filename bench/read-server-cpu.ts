import { existsSync, readdirSync, readFileSync } from "node:fs";

/** What the kernel counts CPU time in, on every Linux that Node runs on. */
const tickUs = 10_000;

/**
 * CPU time of a whole PostgreSQL, in microseconds: the server, its processes, and those of them that have ended. It is
 * found by one of its backends. `null` where the system does not tell.
 */
export function readServerCpuUs(backendId: number): number | null {
  if (!existsSync("/proc/self/stat")) return null;
  const serverId = readStat(backendId)?.parentId;
  if (serverId === undefined) return null;
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    if (stat === null) continue;
    if (stat.parentId === serverId) ticks += stat.ownTicks;
    if (Number(name) === serverId) ticks += stat.ownTicks + stat.endedChildrenTicks;
  }
  return ticks * tickUs;
}

/** `null` when the process is gone. */
function readStat(processId: number): { parentId: number; ownTicks: number; endedChildrenTicks: number } | null {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, "utf8");
    // The program's name comes before, in brackets, and may contain anything.
    const [, parentId, , , , , , , , , , user, system, childrenUser, childrenSystem] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    if (parentId === undefined || user === undefined || system === undefined) return null;
    return { parentId, ownTicks: user + system, endedChildrenTicks: (childrenUser ?? 0) + (childrenSystem ?? 0) };
  } catch {
    // Gone between two looks: it has nothing to tell.
    return null;
  }
}

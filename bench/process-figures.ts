import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The kernel's unit of CPU time, on every Linux that Node runs on. */
const tickUs = 10_000;

/** The kernel's figures of a process; `null` when it is gone. */
export type ProcessStat = { parentId: number; ownTicks: number; endedChildrenTicks: number };

export function readStat(processId: number): ProcessStat | null {
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
    // Gone between two reads.
    return null;
  }
}

/** CPU time of a process, in microseconds, user and system together. */
export function readProcessCpuUs(processId: number): number {
  const stat = readStat(processId);
  if (stat === null) throw new Error(`Process ${processId} is gone, or this system has no /proc.`);
  return stat.ownTicks * tickUs;
}

/** CPU time of a process and of all its children, including ended ones. */
export function readFamilyCpuUs(parentId: number): number {
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null;
    if (stat === null) continue;
    if (stat.parentId === parentId) ticks += stat.ownTicks;
    if (Number(name) === parentId) ticks += stat.ownTicks + stat.endedChildrenTicks;
  }
  return ticks * tickUs;
}

/** The resident memory of a process, in bytes. */
export function readResidentBytes(processId: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}

export function countDescriptors(processId: number): number {
  return readdirSync(`/proc/${processId}/fd`).length;
}

/** How many files and sockets a process may have open. */
export function readDescriptorsMax(processId: number): number {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(`/proc/${processId}/limits`, "utf8")) ?? [];
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** The server of the embedded PostgreSQL of a data directory. */
export function readPostmasterId(dataDir: string): number {
  return Number(readFileSync(join(dataDir, "postgres/postmaster.pid"), "utf8").split("\n")[0]);
}

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Who started a PostgreSQL: its name is on the server's command line, its process is the server's parent. */
export type Owner = { purpose: "gateway" | "command"; processId: number };

export type Postmaster = {
  processId: number;
  isReady: boolean;
  /** `null` when the owner is gone (killed) or when it was not Sluice that started this server. */
  owner: Owner | null;
  isOurs: boolean;
};

/** Goes on the server's command line, where any later process can read it. */
export function presentOwner(owner: Owner): string {
  return `sluice-${owner.purpose}-${owner.processId}`;
}

/** The server that runs on this data directory, or `null`. A process id that something else took over counts as none. */
export function findPostmaster(clusterDir: string): Postmaster | null {
  const lines = readLines(join(clusterDir, "postmaster.pid"));
  const processId = Number(lines[0]);
  if (!Number.isInteger(processId) || processId <= 0) return null;
  const found = readProcess(processId);
  if (found === null || !found.command.includes(clusterDir)) return null;

  const named = /sluice-(gateway|command)-(\d+)/.exec(found.command);
  const owner: Owner | null =
    named === null ? null : { purpose: named[1] === "gateway" ? "gateway" : "command", processId: Number(named[2]) };
  // The kernel gives an orphan another parent, so this cannot be fooled by a process id that is used again.
  const isOwnerAlive = owner !== null && found.parentId === owner.processId;
  return {
    processId,
    isReady: lines[7]?.trim() === "ready",
    owner: isOwnerAlive ? owner : null,
    isOurs: owner !== null,
  };
}

/**
 * After a crash, the file names a process that is gone. If something else runs under that number now, as happens in a
 * restarted container, PostgreSQL would refuse to start; it accepts the number of its own parent, which is ours, and
 * goes on to check by itself whether any process of the crashed server is left.
 */
export function claimStalePidFile(clusterDir: string): void {
  const path = join(clusterDir, "postmaster.pid");
  const [processId, ...rest] = readLines(path);
  if (processId === undefined || findPostmaster(clusterDir) !== null || readProcess(Number(processId)) === null) return;
  writeFileSync(path, [String(process.pid), ...rest].join("\n"));
}

type RunningProcess = { parentId: number; command: string };

function readProcess(processId: number): RunningProcess | null {
  return process.platform === "linux" ? readLinuxProcess(processId) : readOtherProcess(processId);
}

function readLinuxProcess(processId: number): RunningProcess | null {
  const command = readLines(`/proc/${processId}/cmdline`).join(" ").replaceAll("\0", " ").trim();
  const parentId = /^PPid:\s*(\d+)$/m.exec(readLines(`/proc/${processId}/status`).join("\n"))?.[1];
  // A process that has ended but was not yet collected has an empty command line.
  return command === "" || parentId === undefined ? null : { command, parentId: Number(parentId) };
}

function readOtherProcess(processId: number): RunningProcess | null {
  try {
    const line = execFileSync("ps", ["-o", "ppid=,command=", "-p", String(processId)], { encoding: "utf8" }).trim();
    const [, parentId, command] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    return parentId === undefined || command === undefined ? null : { parentId: Number(parentId), command };
  } catch {
    // `ps` fails when there is no such process: that is the answer.
    return null;
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    // Absent, or gone between two looks: there is nothing to read.
    return [];
  }
}

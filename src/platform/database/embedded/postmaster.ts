import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The process that started a PostgreSQL: its parent, named on its command line. */
export type Owner = { purpose: "gateway" | "command"; processId: number };

export type Postmaster = {
  processId: number;
  isReady: boolean;
  /** `null` if the owner was killed, or Sluice did not start this server. */
  owner: Owner | null;
  isOurs: boolean;
};

/** Put on the server's command line, where later processes read it. */
export function presentOwner(owner: Owner): string {
  return `sluice-${owner.purpose}-${owner.processId}`;
}

/** The server that runs on this data directory. `null` also if another program has the process id by now. */
export function findPostmaster(clusterDir: string): Postmaster | null {
  const lines = readLines(join(clusterDir, "postmaster.pid"));
  const processId = Number(lines[0]);
  if (!Number.isInteger(processId) || processId <= 0) return null;
  const found = readProcess(processId);
  if (found === null || !found.command.includes(clusterDir)) return null;

  const named = /sluice-(gateway|command)-(\d+)/.exec(found.command);
  const owner: Owner | null =
    named === null ? null : { purpose: named[1] === "gateway" ? "gateway" : "command", processId: Number(named[2]) };
  // An orphan gets another parent, so a reused process id does not match.
  const isOwnerAlive = owner !== null && found.parentId === owner.processId;
  return {
    processId,
    isReady: lines[7]?.trim() === "ready",
    owner: isOwnerAlive ? owner : null,
    isOurs: owner !== null,
  };
}

/**
 * After a crash, the file contains a stale process id. If another program has that id now, as in a restarted container,
 * PostgreSQL refuses to start. It accepts its parent's id, which is ours, and then checks itself whether a process of the crashed
 * server is left.
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
  // A zombie has an empty command line.
  return command === "" || parentId === undefined ? null : { command, parentId: Number(parentId) };
}

function readOtherProcess(processId: number): RunningProcess | null {
  try {
    const line = execFileSync("ps", ["-o", "ppid=,command=", "-p", String(processId)], { encoding: "utf8" }).trim();
    const [, parentId, command] = /^(\d+)\s+(.*)$/s.exec(line) ?? [];
    return parentId === undefined || command === undefined ? null : { parentId: Number(parentId), command };
  } catch {
    // `ps` fails if there is no such process.
    return null;
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    // Absent, or deleted meanwhile.
    return [];
  }
}

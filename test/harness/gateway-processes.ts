import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { listChildren } from "./list-children.ts";

/** The serving processes of a supervisor, without their own helpers. */
export async function listGatewayProcesses(supervisorId: number): Promise<number[]> {
  return (await listChildren(supervisorId)).filter((processId) => {
    const [program = "", ...words] = read(`/proc/${processId}/cmdline`).split("\0");
    return program.includes("node") && words.some((word) => word.endsWith("/main.js"));
  });
}

const established = "01";

/** How many connections to a local port a process has accepted. */
export function countConnections(processId: number, port: number): number {
  const localPort = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const sockets = new Set(listSockets(processId));
  const lines = ["tcp", "tcp6"].flatMap((table) => read(`/proc/net/${table}`).split("\n").slice(1));
  return lines.filter((line) => {
    const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
    return local.endsWith(localPort) && state === established && sockets.has(`socket:[${inode}]`);
  }).length;
}

function listSockets(processId: number): string[] {
  const folder = `/proc/${processId}/fd`;
  try {
    return readdirSync(folder).flatMap((name) => readLink(`${folder}/${name}`));
  } catch {
    // The process is gone, and so are its connections.
    return [];
  }
}

function readLink(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    // Closed since it was listed.
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Gone since it was listed, or a machine without IPv6.
    return "";
  }
}

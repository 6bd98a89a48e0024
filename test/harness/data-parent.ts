import { existsSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";

const memoryDir = "/dev/shm";
/** Dozens of clones, a gigabyte of write-ahead log and the data of some gateways, with as much to spare. */
const memoryBytesMin = 4 * 1024 ** 3;

/**
 * The folder for the data of databases and gateways: RAM if there is enough. On a disk, creating a clone's thousand
 * files takes ten times the CPU time, and each commit of a durable server waits. A killed process loses no more in RAM
 * than on a disk: only a killed machine does.
 */
export const dataParent = chooseDataParent();

function chooseDataParent(): string {
  if (!existsSync(memoryDir)) return tmpdir();
  const { bavail, bsize } = statfsSync(memoryDir);
  return bavail * bsize >= memoryBytesMin ? memoryDir : tmpdir();
}

// Loaded into a gateway by `bench -- garbage`: the first SIGUSR2 starts counting, the second writes what was counted.
import { writeFileSync } from "node:fs";
import { GCProfiler } from "node:v8";
import { isMainThread } from "node:worker_threads";
import type { GarbageCounts } from "./measure-garbage.ts";

type Collection = ReturnType<GCProfiler["stop"]>["statistics"][number];

let profiler: GCProfiler | null = null;

if (isMainThread) {
  process.on("SIGUSR2", () => {
    if (profiler === null) {
      profiler = new GCProfiler();
      profiler.start();
    } else {
      const { statistics } = profiler.stop();
      writeFileSync(process.env.BENCH_GARBAGE_FILE ?? "", JSON.stringify(count(statistics)));
    }
  });
}

function count(collections: readonly Collection[]): GarbageCounts {
  const scavenges = collections.filter(({ gcType }) => gcType === "Scavenge");
  return {
    scavenges: scavenges.length,
    promotedBytes: sum(scavenges.map(({ beforeGC, afterGC }) => readOldBytes(afterGC) - readOldBytes(beforeGC))),
    pausedUs: sum(collections.map(({ cost }) => cost)),
  };
}

function readOldBytes({ heapSpaceStatistics: spaces }: Collection["afterGC"]): number {
  return spaces.find(({ spaceName }) => spaceName === "old_space")?.spaceUsedSize ?? 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

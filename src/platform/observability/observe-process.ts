import { readdirSync } from "node:fs";
import type { Metrics } from "./metrics.ts";

type ProcessMetrics = Pick<
  Metrics,
  "eventLoopDelay" | "eventLoopTime" | "heap" | "residentMemory" | "cpuTime" | "startTime" | "openFiles"
>;

const askEveryMs = 50;

/** What can be seen of this process without asking anybody. Ends when what it answers is called. */
export function observeProcess(metrics: ProcessMetrics): () => void {
  metrics.eventLoopTime.observe(() => {
    const { active, idle } = performance.eventLoopUtilization();
    return [
      [active / 1000, "active"],
      [idle / 1000, "idle"],
    ];
  });
  metrics.heap.observe(() => {
    const { heapUsed, heapTotal, external, arrayBuffers } = process.memoryUsage();
    return [
      [heapUsed, "heap_used"],
      [heapTotal, "heap_total"],
      [external, "external"],
      [arrayBuffers, "array_buffers"],
    ];
  });
  metrics.residentMemory.observe(() => [[process.memoryUsage.rss()]]);
  metrics.cpuTime.observe(() => {
    const { user, system } = process.cpuUsage();
    return [[(user + system) / 1_000_000]];
  });
  metrics.startTime.observe(() => [[performance.timeOrigin / 1000]]);
  metrics.openFiles.observe(() => [[countOpenFiles()]]);
  return measureDelay(metrics.eventLoopDelay);
}

/**
 * Node's own measure has percentiles of all time, which cannot be added up over processes or told for the last minute; a
 * timer that sees how late it comes costs about as much.
 */
function measureDelay(eventLoopDelay: ProcessMetrics["eventLoopDelay"]): () => void {
  const delay = eventLoopDelay.at();
  let expectedMs = performance.now() + askEveryMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    delay.add(Math.max(0, nowMs - expectedMs) / 1000);
    expectedMs = nowMs + askEveryMs;
  }, askEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

function countOpenFiles(): number {
  try {
    // One of them is the folder that is being read.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    // Only Linux has it.
    return Number.NaN;
  }
}

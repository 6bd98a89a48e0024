import { readdirSync } from "node:fs";
import { repeat } from "../../lib/repeat.ts";
import type { Metrics } from "./metrics.ts";

type ProcessMetrics = Pick<
  Metrics,
  "eventLoopDelay" | "eventLoopTime" | "heap" | "residentMemory" | "cpuTime" | "startTime" | "openFiles"
>;

/** Every tick wakes an idle process: at 200 ms they were a sixth of its wake-ups. */
const tickMs = 500;

/** Observes this process. Returns a function that stops it. */
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
 * Node's `monitorEventLoopDelay` reports all-time percentiles, which cannot be aggregated over processes or windows. A
 * timer that measures its own delay costs about the same.
 */
function measureDelay(eventLoopDelay: ProcessMetrics["eventLoopDelay"]): () => void {
  const delay = eventLoopDelay.at();
  let expectedMs = performance.now() + tickMs;
  return repeat(tickMs, () => {
    const nowMs = performance.now();
    delay.add(Math.max(0, nowMs - expectedMs) / 1000);
    expectedMs = nowMs + tickMs;
  });
}

function countOpenFiles(): number {
  try {
    // Minus the descriptor of this read.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    // Linux only.
    return Number.NaN;
  }
}

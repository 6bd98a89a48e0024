import type { Terminal } from "./command.ts";
import { systemDependencies } from "./system-dependencies.ts";

const intervalMs = 2000;

/** For long commands: prints progress to a terminal and aborts on Ctrl-C. */
export function trackProgress(terminal: Terminal, stack: AsyncDisposableStack) {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort(new Error("interrupted"));
  process.once("SIGINT", stop);
  stack.defer(() => void process.off("SIGINT", stop));
  const isVisible = terminal.isTerminal && !terminal.isJson;
  let printedMs = Number.NEGATIVE_INFINITY;
  return {
    signal: interrupted.signal,
    onProgress(message: string): void {
      const nowMs = systemDependencies.clock.monotonicMs();
      if (!isVisible || nowMs - printedMs < intervalMs) return;
      printedMs = nowMs;
      terminal.printNote(message);
    },
  };
}

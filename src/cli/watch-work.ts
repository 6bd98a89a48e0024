import type { Terminal } from "./command.ts";
import { systemParts } from "./system-parts.ts";

const tellEveryMs = 2000;

/** For work that takes long: tells a person how far it is, now and then; and ends it in order when it is interrupted. */
export function watchWork(terminal: Terminal, stack: AsyncDisposableStack) {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort(new Error("It was interrupted."));
  process.once("SIGINT", stop);
  stack.defer(() => void process.off("SIGINT", stop));
  const isSeen = terminal.isTerminal && !terminal.isJson;
  let toldMs = Number.NEGATIVE_INFINITY;
  return {
    signal: interrupted.signal,
    onProgress(sentence: string): void {
      const nowMs = systemParts.clock.monotonicMs();
      if (!isSeen || nowMs - toldMs < tellEveryMs) return;
      toldMs = nowMs;
      terminal.tell(sentence);
    },
  };
}

type Repeated = { steps: number; work(): void };

const stepMs = 500;
const repeated = new Set<Repeated>();
let timer: NodeJS.Timeout | null = null;
let step = 0;

/**
 * Calls `work` about every `everyMs`, a multiple of half a second. All such work of a process shares one timer: an idle
 * process would otherwise wake for each. Returns a function that stops it. Does not keep the process alive.
 */
export function repeat(everyMs: number, work: () => void): () => void {
  const own = { steps: Math.max(1, Math.round(everyMs / stepMs)), work };
  repeated.add(own);
  timer ??= setInterval(takeStep, stepMs).unref();
  return () => {
    repeated.delete(own);
    if (repeated.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

function takeStep(): void {
  step += 1;
  for (const { steps, work } of repeated) if (step % steps === 0) work();
}

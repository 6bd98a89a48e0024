/** Lets so many in at a time; the others wait in the order in which they came. */
export type WaitingLine = {
  /** Answers with a function that gives the place back. Rejects with the signal's reason when it is aborted before. */
  enter(signal: AbortSignal): Promise<() => void>;
};

export function createWaitingLine(placesMax: number): WaitingLine {
  let places = placesMax;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) places += 1;
    else next();
  };
  const leaveOnce = (): (() => void) => {
    let hasLeft = false;
    return () => {
      if (!hasLeft) leave();
      hasLeft = true;
    };
  };
  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (places > 0) {
        places -= 1;
        return leaveOnce();
      }
      return new Promise((letIn, turnAway) => {
        const onTurn = (): void => {
          waiting.delete(onTurn);
          signal.removeEventListener("abort", onAbort);
          letIn(leaveOnce());
        };
        const onAbort = (): void => {
          waiting.delete(onTurn);
          turnAway(signal.reason);
        };
        waiting.add(onTurn);
        signal.addEventListener("abort", onAbort, { once: true });
      });
    },
  };
}

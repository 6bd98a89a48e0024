/** Handles Ctrl-C: the first stops gracefully, the second exits at once. */
export type Interruption = {
  /** Aborted by the first Ctrl-C without a handler. */
  signal: AbortSignal;
  /** Handles Ctrl-C until the returned function is called. */
  take(handler: () => void): () => void;
  /** Called on SIGINT. */
  hit(): void;
};

export function createInterruption(quit: () => void): Interruption {
  const asked = new AbortController();
  const handlers: (() => void)[] = [];
  return {
    signal: asked.signal,
    take(handler) {
      handlers.push(handler);
      return () => void handlers.splice(handlers.indexOf(handler), 1);
    },
    hit() {
      const handler = handlers.at(-1);
      if (handler !== undefined) handler();
      else if (asked.signal.aborted) quit();
      else asked.abort();
    },
  };
}

/** Ends the request when our own code is wrong. Never for what callers or upstreams send. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`Invariant broken: ${message}`);
}

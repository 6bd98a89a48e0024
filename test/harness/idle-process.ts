import { setImmediate as turn } from "node:timers/promises";
import { afterAll } from "vitest";

/** Anything that ends, such as a closing connection, has ended long before. */
const turnsMax = 1_000;

/**
 * Resolves once the event loop is idle. Work that repeats with every turn would take CPU time from every later test in
 * the same process.
 */
export async function untilIdle(): Promise<void> {
  for (let turns = 0; turns < turnsMax; turns += 1) {
    await turn();
    if (!process.getActiveResourcesInfo().includes("Immediate")) return;
  }
  throw new Error("Something that a test began goes on with every turn of the event loop.");
}

afterAll(untilIdle);

import { setImmediate as turn } from "node:timers/promises";
import { afterAll } from "vitest";

/** What ends by itself, a closing connection for instance, has ended long before. */
const turnsMax = 1_000;

/**
 * Ends once nothing begins anew with every turn of the event loop. What does so for ever takes the processor from every
 * test that comes after it in the same process.
 */
export async function untilIdle(): Promise<void> {
  for (let turns = 0; turns < turnsMax; turns += 1) {
    await turn();
    if (!process.getActiveResourcesInfo().includes("Immediate")) return;
  }
  throw new Error("Something that a test began goes on with every turn of the event loop, and is nobody's any more.");
}

afterAll(untilIdle);

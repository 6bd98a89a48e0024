import { setTimeout as wait } from "node:timers/promises";

const lookEveryMs = 20;

/** Polls until the result is neither `null`, `undefined` nor `false`, and returns it. */
export async function waitUntil<T>(
  what: string,
  look: () => T | Promise<T>,
  timeoutMs = 120_000,
): Promise<Exclude<T, null | undefined | false>> {
  const deadlineAt = performance.now() + timeoutMs;
  while (performance.now() < deadlineAt) {
    const answer = await look();
    if (answer !== null && answer !== undefined && answer !== false) {
      return answer as Exclude<T, null | undefined | false>;
    }
    await wait(lookEveryMs);
  }
  throw new Error(`Waited ${timeoutMs} ms in vain: ${what}`);
}

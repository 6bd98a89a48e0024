import { findConfinement } from "./find-confinement.ts";
import { findLaunchers } from "./find-launchers.ts";
import { type ConfinedProcessCall, type RunningProcess, spawnConfined } from "./spawn-confined.ts";

/**
 * Starts every program that reads user-supplied files, with the best confinement of the machine: only its view of the
 * disk, no network, no environment, no new privileges, and resource limits.
 */
export async function startConfinedProcess(call: ConfinedProcessCall): Promise<RunningProcess> {
  call.signal.throwIfAborted();
  const [launchers, confinement] = await Promise.all([findLaunchers(), findConfinement()]);
  return await spawnConfined(call, { launchers, confinement });
}

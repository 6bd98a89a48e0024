import { findConfinement } from "./find-confinement.ts";
import { findLaunchers } from "./find-launchers.ts";
import { type ConfinedProcessCall, type RunningProcess, spawnConfined } from "./spawn-confined.ts";

/**
 * The one door for whatever reads what strangers sent: a child process with the best confinement that the machine has.
 * It sees its view, has no network, no environment of ours, no way to new privileges, and an end to all it takes.
 */
export async function startConfinedProcess(call: ConfinedProcessCall): Promise<RunningProcess> {
  call.signal.throwIfAborted();
  const [launchers, confinement] = await Promise.all([findLaunchers(), findConfinement()]);
  return await spawnConfined(call, { launchers, confinement });
}

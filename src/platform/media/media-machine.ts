import { findConfinement, rememberConfinement } from "../confinement/find-confinement.ts";
import { findLaunchers, type Launchers, rememberLaunchers } from "../confinement/find-launchers.ts";
import type { Confinement } from "../confinement/spawn-confined.ts";
import { findMediaTools, type MediaTools, rememberMediaTools } from "./find-media-tools.ts";

/** Everything a child without PATH needs to run ffmpeg. Serializable as JSON. */
export type MediaMachine = { tools: MediaTools; launchers: Launchers; confinement: Confinement };

export async function describeMediaMachine(): Promise<MediaMachine> {
  const [tools, launchers, confinement] = await Promise.all([findMediaTools(), findLaunchers(), findConfinement()]);
  return { tools, launchers, confinement };
}

/** For the child. */
export function rememberMediaMachine({ tools, launchers, confinement }: MediaMachine): void {
  rememberMediaTools(tools);
  rememberLaunchers(launchers);
  rememberConfinement(confinement);
}

/** The programs that the child must be allowed to run. */
export function listMediaPrograms({ tools, launchers }: MediaMachine): string[] {
  return [tools.ffmpeg.path, tools.ffprobe.path, ...Object.values(launchers).filter((path) => path !== null)];
}

import type { Semaphore } from "../../lib/semaphore.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findSound, type SoundFinding } from "../../platform/media/find-sound.ts";
import type { Inspect } from "./inspect-spooled.ts";

/** A recording with audible sound: audio, or a video with a sound track. */
export type SoundRecording = { contentType: string; durationMs: number };

const problems = {
  "no-track": "The file has no audio track.",
  silent: "The recording is silent.",
} as const satisfies Record<Exclude<SoundFinding, "heard">, string>;

/** Inspects a recording on the local disk; throws an error that names the field if it has no audible sound. */
export async function inspectSound(
  { inspect, inspections }: { inspect: Inspect; inspections: Semaphore },
  path: string,
  { param }: { param: string },
): Promise<SoundRecording> {
  const { signal } = new AbortController();
  const { contentType, durationMs } = await inspect(path, { param, kinds: ["audio", "video"], signal });
  const finding = await inspections.run(() => findSound(path, { contentType, signal }));
  if (finding !== "heard") throw new AppError("invalid_file", problems[finding], { param });
  return { contentType, durationMs: durationMs ?? 0 };
}

/**
 * Platform functions for adapters that make media on this machine: confined processes, ffmpeg, fonts. A module, not an
 * argument, because the processes that such an adapter starts need them too.
 */
export { describeNodeProgram } from "../platform/confinement/node-program.ts";
export type { RunningProcess } from "../platform/confinement/spawn-confined.ts";
export { startConfinedProcess } from "../platform/confinement/start-confined-process.ts";
export type { View } from "../platform/confinement/view.ts";
export {
  describeMediaMachine,
  listMediaPrograms,
  type MediaMachine,
  rememberMediaMachine,
} from "../platform/media/media-machine.ts";
export { MediaToolError } from "../platform/media/media-tool-error.ts";
export { plainOutput } from "../platform/media/plain-output.ts";
export { runMediaTool } from "../platform/media/run-media-tool.ts";
export { type MediaToolCall, startMediaTool } from "../platform/media/start-media-tool.ts";
export { describeUntrustedInput, findDemuxer } from "../platform/media/untrusted-input.ts";
export { type FontMetrics, fontsDir, loadFontMetrics } from "../platform/text/font-metrics.ts";

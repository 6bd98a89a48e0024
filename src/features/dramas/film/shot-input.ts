import { MediaToolError } from "../../../platform/media/media-tool-error.ts";
import { describeUntrustedInput, findDemuxer } from "../../../platform/media/untrusted-input.ts";
import { FilmError } from "./film-error.ts";

/** The shot being processed, for errors. */
export type ShotContext = { number: number; signal: AbortSignal };

/** An untrusted file; its type was detected from its content when it was stored. */
export function describeInput(path: string, contentType: string, { number }: ShotContext): string[] {
  const demuxer = findDemuxer(contentType);
  if (demuxer === null) {
    throw new FilmError("A shot has a file of an unsupported type.", {
      shot: number,
      detail: { contentType },
    });
  }
  return describeUntrustedInput(path, demuxer);
}

/** Attributes a tool's error to the shot, unless the assembly was aborted. */
export function blameShot(error: unknown, { number, signal }: ShotContext): unknown {
  if (signal.aborted || !(error instanceof MediaToolError)) return error;
  const { detail } = error;
  return new FilmError("A shot's clip or sound is unreadable.", { shot: number, detail, cause: error });
}

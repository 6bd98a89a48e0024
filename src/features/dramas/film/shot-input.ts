import { describeForeignInput } from "../../../platform/media/foreign-input.ts";
import { findDemuxer } from "../../../platform/media/media-demuxers.ts";
import { MediaToolError } from "../../../platform/media/media-tool-error.ts";
import { FilmError } from "./film-error.ts";

/** Which shot is worked on, for errors. */
export type ShotContext = { number: number; signal: AbortSignal };

/** A file of strangers: what it is was decided by its content when it was stored. */
export function describeInput(path: string, contentType: string, { number }: ShotContext): string[] {
  const demuxer = findDemuxer(contentType);
  if (demuxer === null) {
    throw new FilmError("A shot has a file of a kind that is not read here.", {
      shot: number,
      detail: { contentType },
    });
  }
  return describeForeignInput(path, demuxer);
}

/** Whatever a tool complains of, the shot is what it complains of; whoever gave up the film hears their own reason. */
export function blameShot(error: unknown, { number, signal }: ShotContext): unknown {
  if (signal.aborted || !(error instanceof MediaToolError)) return error;
  const { detail } = error;
  return new FilmError("The clip or the sound of a shot cannot be read.", { shot: number, detail, cause: error });
}

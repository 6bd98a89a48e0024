import { AppError } from "../../platform/errors/app-error.ts";

/** JSON that was parsed may be nested too deeply to be written again. */
export function guardDepth<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AppError("invalid_parameter", "The request is nested too deeply to be quoted.", { param: "request" });
  }
}

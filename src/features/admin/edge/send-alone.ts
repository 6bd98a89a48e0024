import type { Readable } from "node:stream";
import { AppError } from "../../../platform/errors/app-error.ts";

/** An export reads everything of its kind, so a process makes one at a time. Nothing is opened for one that is refused. */
export function createSendAlone(): (open: () => Readable | Promise<Readable>) => Promise<Readable> {
  let isTaken = false;
  const free = (): void => {
    isTaken = false;
  };
  return async (open) => {
    if (isTaken) throw new AppError("overloaded", "Another export is running. Try again when it has ended.");
    isTaken = true;
    try {
      // It also closes if the client leaves before the end.
      return (await open()).once("close", free);
    } catch (error) {
      free();
      throw error;
    }
  };
}

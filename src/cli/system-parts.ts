import { randomBytes } from "node:crypto";
import { systemClock } from "../lib/clock.ts";
import { createIdSource } from "../lib/ids.ts";

/** Time and chance as they really are; tests hand in others. */
export const systemParts = {
  clock: systemClock,
  ids: createIdSource({ clock: systemClock, randomBytes }),
  randomBytes,
};

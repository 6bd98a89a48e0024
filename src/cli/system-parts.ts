import { randomBytes } from "node:crypto";
import { systemClock } from "../lib/clock.ts";
import { createIdSource } from "../lib/ids.ts";
import { createDatabaseClock } from "../platform/database/database-clock.ts";

/** The database's time, from when a command has opened it. */
export const databaseClock = createDatabaseClock(systemClock);

/** Time and chance as they really are; tests hand in others. */
export const systemParts = {
  clock: databaseClock,
  ids: createIdSource({ clock: databaseClock, randomBytes }),
  randomBytes,
};

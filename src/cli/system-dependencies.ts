import { randomBytes } from "node:crypto";
import { systemClock } from "../lib/clock.ts";
import { createIdSource } from "../lib/ids.ts";
import { createDatabaseClock } from "../platform/database/database-clock.ts";

/** Follows the database's time once a command has opened it. */
export const databaseClock = createDatabaseClock(systemClock);

/** The real clock and randomness; tests inject others. */
export const systemDependencies = {
  clock: databaseClock,
  ids: createIdSource({ clock: databaseClock, randomBytes }),
  randomBytes,
};

import { homedir } from "node:os";
import { join } from "node:path";

/** What the surroundings say. Nothing else here reads the environment. */
export type Environment = {
  configFolder: string;
  /** For machines without a person: a site and a key that are not kept in a file. */
  site: string | null;
  key: string | null;
  allowsColour: boolean;
};

export function readEnvironment(): Environment {
  const { XDG_CONFIG_HOME, SLUICE_SITE, SLUICE_API_KEY, NO_COLOR, TERM } = process.env;
  // The standard says that a relative path is to be ignored.
  const base = XDG_CONFIG_HOME?.startsWith("/") ? XDG_CONFIG_HOME : join(homedir(), ".config");
  return {
    configFolder: join(base, "sluice"),
    site: SLUICE_SITE || null,
    key: SLUICE_API_KEY?.trim() || null,
    allowsColour: !NO_COLOR && TERM !== "dumb",
  };
}

import { homedir } from "node:os";
import { join } from "node:path";

/** The only module that reads environment variables. */
export type Environment = {
  configFolder: string;
  /** For CI and servers: site and key from the environment, never stored. */
  site: string | null;
  key: string | null;
  allowsColour: boolean;
  /** Where coding agents keep their settings. */
  agentFolders: { claude: string; codex: string; opencode: string };
};

export function readEnvironment(): Environment {
  const { XDG_CONFIG_HOME, SLUICE_SITE, SLUICE_API_KEY, NO_COLOR, TERM } = process.env;
  const { CLAUDE_CONFIG_DIR, CODEX_HOME } = process.env;
  // The XDG specification says to ignore relative paths.
  const base = XDG_CONFIG_HOME?.startsWith("/") ? XDG_CONFIG_HOME : join(homedir(), ".config");
  return {
    configFolder: join(base, "sluice"),
    site: SLUICE_SITE || null,
    key: SLUICE_API_KEY?.trim() || null,
    allowsColour: !NO_COLOR && TERM !== "dumb",
    agentFolders: {
      claude: CLAUDE_CONFIG_DIR || join(homedir(), ".claude"),
      codex: CODEX_HOME || join(homedir(), ".codex"),
      opencode: join(base, "opencode"),
    },
  };
}

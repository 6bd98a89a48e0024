import { readAdminPlace } from "../platform/config/admin-place.ts";
import { UsageError } from "./usage-error.ts";

export type RemoteGateway = {
  url: string;
  key: string;
  /** The command without the place. */
  words: readonly string[];
};

/** The gateway that `--url` before the command or the environment names; `null` to run the command here. */
export function findRemoteGateway(words: readonly string[]): RemoteGateway | null {
  const rest = [...words];
  const given: { url?: string; key?: string } = {};
  // Only before the command: commands have options of these names too.
  for (;;) {
    const [, option, inline] = /^--(url|admin-key)(?:=(.*))?$/s.exec(rest[0] ?? "") ?? [];
    if (option === undefined) break;
    rest.shift();
    const value = inline ?? rest.shift();
    if (value === undefined || (inline === undefined && value.startsWith("--"))) {
      throw new UsageError(`--${option} needs a value.`, remedy);
    }
    given[option === "url" ? "url" : "key"] = value;
  }
  const place = readAdminPlace();
  const url = given.url ?? place.url;
  if (url === undefined) {
    if (given.key !== undefined) throw new UsageError("--admin-key needs --url.", remedy);
    return null;
  }
  const isHelp = rest.length === 0 || rest[0] === "help" || rest.includes("--help") || rest.includes("-h");
  // The environment's gateway is for commands that can run there; serve and backup run here.
  if (isHelp) return null;
  const key = given.key ?? place.key;
  if (key === undefined) throw new UsageError("An admin key is missing.", remedy);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UsageError(`${url} is not an address.`, "Give the site's address, such as --url https://ai.example.com.");
  }
  return { url, key, words: rest };
}

const remedy = "Give --url https://… and --admin-key sk-adm-…, or set SLUICE_ADMIN_URL and SLUICE_ADMIN_KEY.";

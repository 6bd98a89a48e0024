import { readFileSync } from "node:fs";
import type { ServerAddress } from "../src/platform/database/database-address.ts";
import { getClusterPaths } from "../src/platform/database/embedded/cluster-directory.ts";

/** The address of a gateway's embedded database. */
export function readClusterAddress(dataDir: string): Exclude<ServerAddress, { connectionString: string }> {
  const { socketDir, passwordFile } = getClusterPaths(dataDir);
  return { host: socketDir, user: "sluice", password: readFileSync(passwordFile, "utf8"), database: "sluice" };
}

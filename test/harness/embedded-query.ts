import { readFileSync } from "node:fs";
import pg from "pg";
import { getClusterPaths } from "../../src/platform/database/embedded/cluster-directory.ts";

/** Connects directly to the embedded database of a data directory. */
export async function connectEmbedded(dataDir: string): Promise<pg.Client> {
  const { socketDir, passwordFile } = getClusterPaths(dataDir);
  const password = readFileSync(passwordFile, "utf8");
  const client = new pg.Client({ host: socketDir, user: "sluice", password, database: "sluice" });
  await client.connect();
  return client;
}

import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startGateway } from "../../src/app/start-gateway.ts";
import { saveSecret } from "../../src/cli/save-secret.ts";
import { listAccounts } from "../../src/features/accounts/index.ts";
import { createLedger } from "../../src/features/ledger/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { invariant } from "../../src/lib/invariant.ts";
import type { Settings } from "../../src/platform/config/load-settings.ts";
import { openDatabase } from "../../src/platform/database/open-database.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createPastClock } from "./past-clock.ts";
import { seedDemoAccount } from "./seed-demo-account.ts";

export const demoDays = 120;
const callsPerDay = 32;
const dayMs = 24 * 60 * 60_000;

/** The key of a newly written demo account. */
export type FreshDemo = { key: string };

/**
 * Fills an empty data folder once. Returns `null` and changes nothing if the folder contains data. The folder's secrets
 * then contain the account's password and key.
 */
export async function writeDemoHistory(
  settings: Settings,
  onProgress: (sentence: string) => void,
): Promise<FreshDemo | null> {
  const { data_dir: dataDir } = settings;
  // Marks an unfinished history: delete the folder and start over.
  const unfinishedPath = join(dataDir, "demo-unfinished");
  if (existsSync(unfinishedPath)) rmSync(dataDir, { recursive: true });
  if (existsSync(dataDir) && readdirSync(dataDir).length > 0) return null;
  onProgress(`Writing ${demoDays} days of history; this takes about 15 s.`);
  const until = systemClock.now();
  const clock = createPastClock(new Date(until.getTime() - demoDays * dayMs));
  const ids = createIdSource({ clock, randomBytes });
  const gateway = await startGateway({
    // Only this script calls the gateway, so any free port works.
    settings: { ...settings, port: 0, host: "127.0.0.1" },
    ...{ clock, ids, randomBytes },
    logger: createLogger({ level: "error", format: "pretty", write: (line) => process.stderr.write(line) }),
    onProgress: () => {},
    onLost: (error) => {
      throw error;
    },
  });
  writeFileSync(unfinishedPath, "");
  const { firstRun, port } = gateway;
  invariant(firstRun !== null, "the folder was not empty");
  saveSecret(dataDir, "demo-password", firstRun.password);
  saveSecret(dataDir, "demo-key", firstRun.keyText);
  const { database, address, close } = await openDatabase({
    url: settings.database_url,
    dataDir,
    purpose: "command",
    connectionsMax: 2,
    onProgress: () => {},
    onConnectionError: () => {},
    onLost: () => {},
  });
  const [account] = await listAccounts(database);
  invariant(account !== undefined, "the first run made no account");
  const place = { accountId: account.id, baseUrl: `http://127.0.0.1:${port}/v1`, key: firstRun.keyText };
  const onTrouble = (error: unknown): never => {
    throw error;
  };
  const ledger = createLedger({ database, address, clock, onTrouble });
  const parts = { database, clock, ledger, ids, randomBytes, hasModel: () => true };
  await seedDemoAccount(parts, { ...place, until, days: demoDays, callsPerDay });
  await ledger.close();
  await close();
  await gateway.close();
  rmSync(unfinishedPath);
  return { key: firstRun.keyText };
}

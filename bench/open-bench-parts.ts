import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccount, createApiKey, createCallerDirectory, updateAccount } from "../src/features/accounts/index.ts";
import { applyCatalog, openLiveCatalog } from "../src/features/catalog/index.ts";
import { systemClock } from "../src/lib/clock.ts";
import { createIdSource } from "../src/lib/ids.ts";
import { openChangeFeed } from "../src/platform/database/change-feed.ts";
import { migrate } from "../src/platform/database/migrate.ts";
import { openDatabase } from "../src/platform/database/open-database.ts";
import { createUpstreamHealth } from "../src/providers/upstream-health.ts";
import { writeLargeCatalog } from "./large-catalog.ts";

const limitMax = 1_000_000_000;

/** The real dependencies on a separate database: 500 models, and an account with high limits. */
export async function openBenchParts() {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  const { database, address, close } = await openDatabase({
    url: undefined,
    dataDir,
    purpose: "command",
    connectionsMax: 5,
    onProgress: () => {},
    onConnectionError: () => {},
    onLost: () => {},
  });
  await migrate(address);
  const clock = systemClock;
  const ids = createIdSource({ clock, randomBytes });
  const parts = { database, clock, ids, randomBytes, hasModel: () => true };
  const surroundings = {
    currency: "USD",
    planIds: new Set<string>(),
    accountIds: new Set<string>(),
    hasSecret: () => true,
    findPackageFault: () => null,
  };
  await applyCatalog({ ...parts, surroundings }, writeLargeCatalog(500));
  const account = await createAccount(parts, { email: "bench@example.com" });
  await updateAccount(parts, account.id, { limits: { requestsPerMinute: limitMax / 10, tokensPerMinute: limitMax } });
  const { text: key } = await createApiKey(parts, { accountId: account.id, name: "bench" });
  const feed = await openChangeFeed({ address, channels: ["callers", "catalog"], onTrouble: () => {} });
  const health = createUpstreamHealth({ clock });
  const catalog = await openLiveCatalog({
    ...{ database, clock, feed, health, loadAdapters: async () => {} },
    onTrouble: () => {},
  });
  return {
    ...parts,
    address,
    catalog,
    health,
    key,
    callers: createCallerDirectory({ database, feed }),
    async close() {
      catalog.close();
      await feed.close();
      await close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

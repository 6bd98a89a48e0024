import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { createGatewayHttp } from "../../src/app/create-gateway-http.ts";
import { createCatalogView } from "../../src/features/catalog/catalog-view.ts";
import { createChat } from "../../src/features/chat/index.ts";
import { createLedger } from "../../src/features/ledger/index.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { loadSettings } from "../../src/platform/config/load-settings.ts";
import { createMemoryCounters } from "../../src/platform/counters/memory-counters.ts";
import { createDatabase } from "../../src/platform/database/database.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";
import { createProviderRegistry } from "../../src/providers/provider-registry.ts";
import { createUpstreamHealth } from "../../src/providers/upstream-health.ts";

const nowhere = { connectionString: "postgres://localhost/nowhere" };

/** The OpenAPI document as a gateway with standard settings serves it. No request is made, so no database is asked. */
export async function presentOpenApi(): Promise<string> {
  const database = createDatabase({ address: nowhere, connectionsMax: 1, onConnectionError: () => {} });
  const settings = loadSettings({ environment: {}, directory: tmpdir() });
  const clock = systemClock;
  const ids = createIdSource({ clock, randomBytes });
  const logger = createLogger({ level: "error", format: "json", write: () => {} });
  const counters = createMemoryCounters({ clock });
  const health = createUpstreamHealth({ clock });
  const registry = createProviderRegistry({ clock });
  const catalog = { current: () => createCatalogView(null, health), close: () => {} };
  const ledger = createLedger({ database, address: nowhere, clock, onTrouble: () => {} });
  const parts = { settings, clock, ids, logger, database, counters, catalog };
  const chat = createChat({ ...parts, health, registry, ledger, random: () => 0 });
  const http = await createGatewayHttp({
    ...parts,
    chat,
    callers: { recall: () => null, find: async () => null },
    checkDatabase: async () => {},
  });
  await http.ready();
  const document = http.swagger();
  await http.close();
  await chat.close();
  await registry.close();
  await ledger.close();
  await database.destroy();
  return `${JSON.stringify(document, null, 2)}\n`;
}

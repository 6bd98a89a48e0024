import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { createGatewayHttp } from "../../src/app/create-gateway-http.ts";
import { createCatalogView } from "../../src/features/catalog/catalog-view.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createIdSource } from "../../src/lib/ids.ts";
import { loadSettings } from "../../src/platform/config/load-settings.ts";
import { createMemoryCounters } from "../../src/platform/counters/memory-counters.ts";
import { createDatabase } from "../../src/platform/database/database.ts";
import { createLogger } from "../../src/platform/observability/logger.ts";

const nowhere = { connectionString: "postgres://localhost/nowhere" };

/** The OpenAPI document as a gateway with standard settings serves it. No request is made, so no database is asked. */
export async function presentOpenApi(): Promise<string> {
  const database = createDatabase({ address: nowhere, connectionsMax: 1, onConnectionError: () => {} });
  const http = await createGatewayHttp({
    database,
    settings: loadSettings({ environment: {}, directory: tmpdir() }),
    callers: { find: async () => null },
    catalog: { current: () => createCatalogView(null), close: () => {} },
    counters: createMemoryCounters({ clock: systemClock }),
    checkDatabase: async () => {},
    clock: systemClock,
    ids: createIdSource({ clock: systemClock, randomBytes }),
    logger: createLogger({ level: "error", format: "json", write: () => {} }),
  });
  await http.ready();
  const document = http.swagger();
  await http.close();
  await database.destroy();
  return `${JSON.stringify(document, null, 2)}\n`;
}

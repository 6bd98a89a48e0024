import { randomBytes } from "node:crypto";
import { startGateway } from "../src/app/start-gateway.ts";
import { systemClock } from "../src/lib/clock.ts";
import { createIdSource } from "../src/lib/ids.ts";
import { loadSettings, type Settings } from "../src/platform/config/load-settings.ts";
import { createLogger } from "../src/platform/observability/logger.ts";

/** Starts a gateway for one script with its own data folder. Ignores the environment's settings. */
export function startOwnGateway({ data_dir: dataDir, ...settings }: Partial<Settings> & Pick<Settings, "data_dir">) {
  return startGateway({
    settings: { ...loadSettings({ environment: {}, directory: dataDir }), data_dir: dataDir, ...settings },
    clock: systemClock,
    ids: createIdSource({ clock: systemClock, randomBytes }),
    randomBytes,
    logger: createLogger({ level: "error", format: "json", write: (line) => process.stderr.write(line) }),
    onProgress: () => {},
    onLost: (error) => {
      throw error;
    },
  });
}

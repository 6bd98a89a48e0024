import { setTimeout as wait } from "node:timers/promises";
import type { ChangeFeed } from "../../platform/database/change-feed.ts";
import type { Database } from "../../platform/database/database.ts";
import type { LoadAdapters } from "../../providers/provider-registry.ts";
import { findCatalog } from "./catalog-store.ts";
import { type CatalogView, createCatalogView, type KnownHealth } from "./catalog-view.ts";

export type LiveCatalog = {
  /** The newest version that this node has heard of: read from memory, never from the database. */
  current(): CatalogView;
  close(): void;
};

const retryMs = 200;

/** Loads the catalog and keeps it up to date: a new version is served within moments of being applied. */
export async function openLiveCatalog(options: {
  database: Database;
  feed: ChangeFeed;
  health: KnownHealth;
  loadAdapters: LoadAdapters;
  /** Told of each try to load a new version that failed, and of each that did not. */
  onTrouble(error: unknown): void;
  onRecovery?(): void;
}): Promise<LiveCatalog> {
  let view = createCatalogView(null, options.health);
  let wantedLoads = 0;
  let isLoading = false;
  let isClosed = false;

  async function read(): Promise<CatalogView> {
    const catalog = await findCatalog(options.database);
    await options.loadAdapters(catalog?.providers ?? []);
    return createCatalogView(catalog, options.health);
  }

  /** Loads until no change has come in meanwhile, so that the last one always counts. */
  async function load(): Promise<void> {
    wantedLoads += 1;
    if (isLoading) return;
    isLoading = true;
    for (let done = 0; done < wantedLoads && !isClosed; ) {
      const asked = wantedLoads;
      try {
        view = await read();
        done = asked;
        options.onRecovery?.();
      } catch (error) {
        // The old version is better than none; the next try follows at once.
        options.onTrouble(error);
        await wait(retryMs, undefined, { ref: false });
      }
    }
    wantedLoads = 0;
    isLoading = false;
  }

  // Listening comes first, so that no version can slip in between.
  options.feed.subscribe("catalog", { onChange: () => void load(), onReset: () => void load() });
  view = await read();
  return {
    current: () => view,
    close() {
      isClosed = true;
    },
  };
}

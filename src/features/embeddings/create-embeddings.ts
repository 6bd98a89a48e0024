import type { Clock } from "../../lib/clock.ts";
import type { HttpServer } from "../../platform/http/create-http-server.ts";
import type { ProviderRegistry } from "../../providers/provider-registry.ts";
import type { Calls } from "../calls/index.ts";
import type { LiveCatalog } from "../catalog/index.ts";
import { addEmbeddingRoutes } from "./embedding-routes.ts";

export type Embeddings = { addRoutes(http: HttpServer): void };

type EmbeddingsOptions = { calls: Calls; catalog: LiveCatalog; registry: ProviderRegistry; clock: Clock };

export function createEmbeddings({ calls, catalog, registry, clock }: EmbeddingsOptions): Embeddings {
  return { addRoutes: (http) => addEmbeddingRoutes(http, calls, { catalog, registry, clock }) };
}

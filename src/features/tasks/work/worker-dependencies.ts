import type { GuardedClient } from "../../../platform/net/guarded-client.ts";
import type { Tracing } from "../../../platform/tracing/span.ts";
import type { ProviderRegistry } from "../../../providers/provider-registry.ts";
import type { UpstreamHealth } from "../../../providers/upstream-health.ts";
import type { LiveCatalog } from "../../catalog/index.ts";
import type { Files } from "../../files/index.ts";
import type { HookAddresses } from "../hook-address.ts";
import type { TransitionDependencies } from "../machine/apply-transition.ts";
import type { Orchestrate } from "./orchestrate-task.ts";

/** What a worker needs to advance tasks. */
export type WorkerDependencies = TransitionDependencies & {
  catalog: LiveCatalog;
  registry: ProviderRegistry;
  health: UpstreamHealth;
  files: Files;
  /** Fetches caller-supplied URLs with SSRF protection. */
  guarded: Pick<GuardedClient, "fetchBytes">;
  random(): number;
  /** Where vendors call back. */
  hooks: Pick<HookAddresses, "find">;
  /** Advances composite tasks; provided by the feature that knows their steps. */
  orchestrate: Orchestrate;
  tracing?: Tracing | null;
};

import type { Clock } from "../lib/clock.ts";
import type { IdSource } from "../lib/ids.ts";
import type { Settings } from "../platform/config/load-settings.ts";
import { resolveSecret } from "../platform/config/secrets.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { Logger } from "../platform/observability/logger.ts";
import { createSampler } from "../platform/tracing/create-sampler.ts";
import type { Tracing } from "../platform/tracing/span.ts";

type TracesOptions = {
  settings: Settings;
  clock: Clock;
  ids: IdSource;
  logger: Logger;
};

/** Tells the operator's collector how requests fare; `null` where none is set. */
export async function openTraces({ settings, clock, ids, logger }: TracesOptions): Promise<Tracing | null> {
  const { otlp_endpoint: endpoint } = settings;
  if (endpoint === undefined) return null;
  const headers = Object.fromEntries(Object.entries(settings.otlp_headers ?? {}).map(readHeader));
  // Loaded only where it is used: it would slow every start down.
  const { openTracing } = await import("../platform/tracing/open-tracing.ts");
  return openTracing({
    ...{ endpoint, headers, clock, delayMs: settings.traces_delay_ms },
    sampler: createSampler({
      ...{ name: settings.traces_sampler, ratio: settings.traces_sampler_arg, clock },
      // Drawn for every request, and no secret: the system's own chance took a hundredth of a call.
      random: Math.random,
      callersPerSecondMax: settings.traces_callers_per_second_max,
    }),
    resource: { "service.name": settings.otel_service_name, "service.instance.id": ids.next("node") },
    onLoss: (error, lost) => logger.warn({ error, lost }, "the trace collector takes no spans; they are lost"),
    onRecovery: (lost) => logger.info({ lost }, "the trace collector takes spans again"),
  });
}

function readHeader([name, text]: [string, string]): [string, string] {
  const value = resolveSecret(text);
  if (value !== null) return [name, value];
  throw new OperatorError(
    `The header ${name} of otlp_headers names a variable that is not set.`,
    `Set ${text.slice(2, -1)} in the environment, or take the header out of otlp_headers.`,
  );
}

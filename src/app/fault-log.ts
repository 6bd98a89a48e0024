import type { RouteFault } from "../features/catalog/index.ts";
import type { Logger } from "../platform/observability/logger.ts";

/** Logs upstreams that go out of service, once per provider and reason, and their recovery. */
export function createFaultLog(logger: Logger): (faults: readonly RouteFault[]) => void {
  let known = new Map<string, string>();
  return (faults) => {
    const groups = Map.groupBy(faults, ({ target, fault }) => JSON.stringify([target.providerId, fault.message]));
    for (const [first, ...others] of groups.values()) {
      if (first === undefined) continue;
      const { code, message: reason, remedy } = first.fault;
      const models = [...new Set([first, ...others].flatMap(({ modelIds }) => modelIds))];
      const isChosen = code === "disabled" || code === "draining";
      const fields = { upstream: first.target.providerId, reason, remedy, models };
      logger[isChosen ? "warn" : "error"](fields, "upstream out of service");
    }
    const names = new Map([...groups].map(([name, [first]]) => [name, first?.target.providerId ?? ""]));
    for (const [name, upstream] of known) if (!names.has(name)) logger.info({ upstream }, "upstream fault resolved");
    known = names;
  };
}

import type { Metrics } from "../observability/metrics.ts";

type EndedRequest = {
  method: string;
  /** The route pattern; `null` for an unknown path. */
  route: string | null;
  statusCode: number;
  /** The client disconnected before the end of the response. */
  isAborted: boolean;
  /** The error code of the response. */
  code: string | null;
  durationMs: number;
};

export type RequestMeter = { begin(): void; end(request: EndedRequest): void };

const statusClasses = ["1xx", "2xx", "3xx", "4xx", "5xx"] as const;

export function createRequestMeter(
  metrics: Pick<Metrics, "requestDuration" | "requestsInProgress" | "errors">,
): RequestMeter {
  let inProgress = 0;
  metrics.requestsInProgress.observe(() => [[inProgress]]);
  return {
    begin() {
      inProgress += 1;
    },
    end({ method, route, statusCode, isAborted, code, durationMs }) {
      inProgress -= 1;
      const statusClass = isAborted ? "aborted" : (statusClasses[Math.floor(statusCode / 100) - 1] ?? "5xx");
      metrics.requestDuration.at(method, route ?? "none", statusClass).add(durationMs / 1000);
      if (code !== null) metrics.errors.at(code).add(1);
    },
  };
}

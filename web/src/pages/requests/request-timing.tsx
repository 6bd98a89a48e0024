import type { LoggedRequest } from "../../api/ask-requests.ts";
import { Section } from "../../design/section.tsx";
import { Stat } from "../../design/stat.tsx";
import { formatLatency } from "./request-words.ts";

export function RequestTiming({ request }: { request: LoggedRequest }) {
  const { latency_ms: latency, time_to_first_token_ms: first, tokens } = request;
  const streamedMs = first === null ? 0 : latency - first;
  const speed = tokens === null || streamedMs <= 0 ? null : Math.round((tokens.output * 1000) / streamedMs);
  return (
    <Section title="Timing">
      <div className="grid grid-cols-2 gap-x-8 gap-y-5 sm:grid-cols-3">
        <Stat label="Latency" value={formatLatency(latency)} />
        <Stat label="Time to first token" value={first === null ? "–" : formatLatency(first)} />
        <Stat label="Tokens per second" value={speed === null ? "–" : speed} />
      </div>
      {first !== null && latency > 0 && (
        <div aria-hidden="true" className="flex h-2 gap-0.5 overflow-hidden rounded-full bg-line">
          <div className="bg-line-strong" style={{ width: `${Math.min(100, (first / latency) * 100)}%` }} />
          <div className="flex-1 bg-accent" />
        </div>
      )}
    </Section>
  );
}

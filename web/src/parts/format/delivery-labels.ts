import type { BadgeKind } from "../../design/badge.tsx";
import { formatDuration } from "./format-duration.ts";

type DeliveryStatus = "pending" | "succeeded" | "failed" | "dropped";
type Attempt = { duration_ms: number; status?: number; error?: string };

const looks: Readonly<Record<DeliveryStatus, { kind: BadgeKind; name: string }>> = {
  pending: { kind: "busy", name: "Pending" },
  succeeded: { kind: "good", name: "Delivered" },
  failed: { kind: "bad", name: "Failed" },
  dropped: { kind: "neutral", name: "Dropped" },
};

export function describeDeliveryStatus(status: DeliveryStatus): { kind: BadgeKind; name: string } {
  return looks[status];
}

const problems: Readonly<Record<string, string>> = {
  redirect: "returned a redirect, which is not followed,",
  timeout: "timed out",
  unreachable: "could not connect",
  forbidden_address: "blocked because the address is not public",
  bad_answer: "returned an invalid response",
  internal_error: "failed on our side",
};

export function describeAttempt({ status, error, duration_ms: durationMs }: Attempt): string {
  const outcome = problems[error ?? ""] ?? `returned ${status}`;
  return `${outcome} after ${durationMs < 1000 ? `${durationMs} ms` : formatDuration(durationMs)}`;
}

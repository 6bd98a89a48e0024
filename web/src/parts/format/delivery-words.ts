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
  redirect: "answered with a redirect, which is not followed",
  timeout: "no answer in time",
  unreachable: "not reached",
  forbidden_address: "not sent, because the address is not a public one",
  bad_answer: "an answer that cannot be read",
  internal_error: "it went wrong on our side",
};

/** What came of one attempt, as half a sentence. */
export function describeAttempt({ status, error, duration_ms: durationMs }: Attempt): string {
  const outcome = problems[error ?? ""] ?? `answered ${status}`;
  return `${outcome}, after ${durationMs < 1000 ? `${durationMs} ms` : formatDuration(durationMs)}`;
}

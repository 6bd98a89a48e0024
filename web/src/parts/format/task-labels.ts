import type { BadgeKind } from "../../design/badge.tsx";

type TaskStatus = "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";

const looks: Readonly<Record<TaskStatus, { kind: BadgeKind; name: string }>> = {
  queued: { kind: "neutral", name: "Queued" },
  processing: { kind: "busy", name: "Processing" },
  succeeded: { kind: "good", name: "Succeeded" },
  failed: { kind: "bad", name: "Failed" },
  canceled: { kind: "neutral", name: "Canceled" },
  expired: { kind: "warning", name: "Expired" },
};

/** Task statuses in order. */
export const taskStatuses = Object.keys(looks) as TaskStatus[];

export function describeTaskStatus(status: TaskStatus): { kind: BadgeKind; name: string } {
  return looks[status];
}

import type { Delivery, Endpoint, EventType } from "../../api/fetch-webhooks.ts";
import type { BadgeKind } from "../../design/badge.tsx";

export const eventNames: Readonly<Record<EventType, string>> = {
  "task.succeeded": "A task succeeded.",
  "task.failed": "A task failed at no charge.",
  "task.canceled": "A task was canceled.",
  "task.expired": "A task did not finish before its deadline.",
};

const reasons: Readonly<Record<NonNullable<Endpoint["disabled_reason"]>, string>> = {
  owner: "You disabled it.",
  gone: "It returned 410 Gone.",
  failing: "All deliveries failed for five days.",
};

/** Why the endpoint is disabled, if it is. */
export function describeDisabled({ enabled, disabled_reason: reason }: Endpoint): string | null {
  return enabled || reason === undefined ? null : reasons[reason];
}

export function describeEndpointStatus(endpoint: Endpoint): { kind: BadgeKind; name: string } {
  if (!endpoint.enabled) return { kind: "neutral", name: "Disabled" };
  return endpoint.failing_since === undefined
    ? { kind: "good", name: "Enabled" }
    : { kind: "warning", name: "Failing" };
}

/** Successful among finished deliveries. Deliveries dropped while disabled do not count. */
export function describeSuccess(deliveries: readonly Pick<Delivery, "status">[]): string {
  const ended = deliveries.filter(({ status }) => status === "succeeded" || status === "failed");
  if (ended.length === 0) return "None yet";
  const arrived = ended.filter(({ status }) => status === "succeeded").length;
  return `${arrived}/${ended.length}`;
}

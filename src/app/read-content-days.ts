import type { Settings } from "../platform/config/load-settings.ts";

/** Contents are found by their request, so they cannot outlive it. */
export function readContentDays(settings: Pick<Settings, "content_log_days" | "request_log_days">): number {
  return Math.min(settings.content_log_days, settings.request_log_days);
}

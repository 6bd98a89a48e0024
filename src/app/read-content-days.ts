import type { Settings } from "../platform/config/load-settings.ts";

/** A content is found by its request, so that it can be read no longer than that. */
export function readContentDays(settings: Pick<Settings, "content_log_days" | "request_log_days">): number {
  return Math.min(settings.content_log_days, settings.request_log_days);
}

import type { Model } from "../../api/ask-catalog.ts";
import type { SearchHit } from "../../api/ask-search.ts";
import { findDay } from "../format/calendar-days.ts";
import { formatMoment } from "../format/format-time.ts";
import { nameType } from "../format/model-words.ts";
import type { SearchEntry } from "./search-entry.ts";

/** Title and URL of a search hit. */
export function describeHit(hit: SearchHit, timeZone: string): SearchEntry {
  const { id, name, status, task_id: taskId, created_at: createdAt } = hit;
  const detail = [id, formatMoment(createdAt, timeZone)].join(" · ");
  const toTask = `/console/tasks/${taskId}`;
  switch (hit.object) {
    case "request":
      return { to: `/console/requests/${id}`, title: name, detail, tag: `Request, ${status}`, icon: "requests" };
    case "task":
      return { to: `/console/tasks/${id}`, title: name, detail, tag: `Task, ${status}`, icon: "tasks" };
    case "charge":
      return { to: `/console/usage/charges/${id}`, title: name, detail, tag: "Charge", icon: "billing" };
    case "ledger_entry": {
      const day = findDay(new Date(createdAt), timeZone);
      const to = `/console/billing?from=${day}&to=${day}`;
      return { to, title: nameEntry(name), detail, tag: "Statement", icon: "billing" };
    }
    case "key": {
      const isEnded = status === "ended";
      const to = `/console/keys?${isEnded ? "ended=1&" : ""}key=${id}`;
      return { to, title: name, detail, tag: isEnded ? "API key, ended" : "API key", icon: "keys" };
    }
    case "file":
      // Files have no page: an output links to its task, other files download.
      if (taskId !== null) return { to: toTask, title: name, detail, tag: "Output of a task", icon: "tasks" };
      return {
        to: `/console/api/files/${id}/content`,
        title: name,
        detail,
        tag: "Download file",
        icon: "download",
        opens: "download",
      };
    case "event":
      if (taskId !== null) return { to: toTask, title: name, detail, tag: "Event of a task", icon: "webhooks" };
      return { to: "/console/webhooks", title: name, detail, tag: "Event", icon: "webhooks" };
    case "webhook_endpoint":
      return { to: `/console/webhooks/${id}`, title: name, detail, tag: "Webhook endpoint", icon: "webhooks" };
  }
}

export function describeModel({ id, name, type }: Pick<Model, "id" | "name" | "type">): SearchEntry {
  const path = id.split("/").map(encodeURIComponent).join("/");
  return { to: `/console/models/${path}`, title: id, detail: name, tag: `${nameType(type)} model`, icon: "models" };
}

function nameEntry(kind: string): string {
  const words = kind.replaceAll("_", " ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

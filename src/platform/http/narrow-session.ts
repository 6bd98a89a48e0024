import { AppError } from "../errors/app-error.ts";

/**
 * What an operator who sees a customer's account may read, by the paths of the console API. All other reads and every change
 * are refused, so a new endpoint is closed until it is added here. The search is closed: it finds
 * words of prompts.
 */
const viewablePaths: ReadonlySet<string> = new Set([
  ...["/site", "/session", "/sessions", "/passkeys", "/services", "/connected-clients", "/account", "/activity"],
  ...["/keys", "/keys/:id", "/event_inbox", "/first_call", "/showcase", "/status", "/uptime"],
  ...["/checkouts", "/checkouts/:id", "/debt", "/auto_top_up", "/billing_details", "/documents", "/documents/:id/pdf"],
  ...["/alerts", "/plans", "/balance", "/buckets", "/ledger", "/holds", "/usage", "/charges", "/charges/:charge_id"],
  ...["/models", "/models/*", "/pricing/models"],
  ...["/requests", "/requests/summary", "/requests/export", "/requests/:request_id"],
  ...["/tasks", "/tasks/counts", "/tasks/:task_id", "/files", "/files/:file_id"],
  ...["/webhook_endpoints", "/webhook_endpoints/:id", "/webhook_endpoints/:id/deliveries"],
  ...["/events", "/events/:id/deliveries"],
]);

const prefix = "/console/api";
/** Ends the operator's own session, and the view with it. */
const signOutPath = `${prefix}/sign-out`;

/** Throws unless the request only reads what the view shows. `url` is the route's pattern. */
export function requireViewable({
  method,
  url,
  query,
}: {
  method: string;
  url: string | undefined;
  query: unknown;
}): void {
  if (method === "POST" && url === signOutPath) return;
  if (method !== "GET" && method !== "HEAD") {
    throw new AppError(
      "view_read_only",
      "You see this account as its owner does, read-only. End the view to change things.",
    );
  }
  // `q` finds words of prompts.
  const isSearch = typeof query === "object" && query !== null && "q" in query;
  if (!isSearch && url?.startsWith(prefix) === true && viewablePaths.has(url.slice(prefix.length))) return;
  throw new AppError("view_read_only", "A view of an account shows no secrets and no contents of requests or files.");
}

/** Texts that customers sent to models. The schemas make both optional. */
const leftOutFields: ReadonlySet<string> = new Set(["prompt", "revised_prompt"]);
/** Facts of cards beyond the last digits. */
const zeroedFields: ReadonlySet<string> = new Set(["exp_month", "exp_year"]);

/** The response without signatures of links to files, prompts and facts of cards. */
export function hideFromView(value: unknown, siteUrl: string): unknown {
  if (typeof value === "string") return value.startsWith(`${siteUrl}/files/`) ? value.replace(/\?.*/s, "") : value;
  if (Array.isArray(value)) return value.map((item) => hideFromView(item, siteUrl));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const shown = Object.entries(value)
    .filter(([name]) => !leftOutFields.has(name))
    .map(([name, field]) => [name, zeroedFields.has(name) ? 0 : hideFromView(field, siteUrl)]);
  return Object.fromEntries(shown);
}

import type { ComponentType } from "react";
import type { IconName } from "../../design/icon.tsx";
import { lazyPage } from "../../parts/frame/lazy-page.tsx";

type AdminPageEntry = { path: string; Page: ComponentType };

/** The operators' pages: the path below `/console/admin`, with `:name` for its parts, and the page, loaded when opened. */
const adminPages: readonly AdminPageEntry[] = [
  { path: "today", Page: lazyPage(() => import("./today/today-page.tsx"), "TodayPage") },
  { path: "accounts", Page: lazyPage(() => import("./accounts/accounts-page.tsx"), "AccountsPage") },
  { path: "accounts/:id", Page: lazyPage(() => import("./accounts/account-page.tsx"), "AccountPage") },
  { path: "money", Page: lazyPage(() => import("./money/money-page.tsx"), "MoneyPage") },
  { path: "payments/:id", Page: lazyPage(() => import("./money/payment-page.tsx"), "PaymentPage") },
  { path: "work", Page: lazyPage(() => import("./work/work-page.tsx"), "WorkPage") },
  { path: "tasks/:id", Page: lazyPage(() => import("./work/task-page.tsx"), "TaskPage") },
  { path: "requests", Page: lazyPage(() => import("./requests/all-requests-page.tsx"), "AllRequestsPage") },
  {
    path: "requests/:id",
    Page: lazyPage(() => import("./requests/explained-request-page.tsx"), "ExplainedRequestPage"),
  },
  { path: "search", Page: lazyPage(() => import("./search/search-page.tsx"), "SearchPage") },
  { path: "alarms", Page: lazyPage(() => import("./alarms/alarms-page.tsx"), "AlarmsPage") },
  { path: "alarms/:id", Page: lazyPage(() => import("./alarms/alarm-page.tsx"), "AlarmPage") },
  { path: "incidents", Page: lazyPage(() => import("./incidents/incidents-page.tsx"), "IncidentsPage") },
  { path: "abuse", Page: lazyPage(() => import("./abuse/abuse-page.tsx"), "AbusePage") },
  { path: "upstreams", Page: lazyPage(() => import("./upstreams/upstreams-page.tsx"), "UpstreamsPage") },
  { path: "upstreams/add", Page: lazyPage(() => import("./upstreams/add-vendor-page.tsx"), "AddVendorPage") },
  { path: "catalog", Page: lazyPage(() => import("./catalog/catalog-page.tsx"), "CatalogPage") },
  { path: "catalog/history", Page: lazyPage(() => import("./catalog/catalog-history-page.tsx"), "CatalogHistoryPage") },
  { path: "setup", Page: lazyPage(() => import("./setup/setup-page.tsx"), "SetupPage") },
  { path: "audit", Page: lazyPage(() => import("./audit/audit-page.tsx"), "AuditPage") },
];

/** Where `/console/admin` leads. */
export const firstAdminPage = "today";

/** The pages in the navigation. */
export const adminNavigation: readonly { to: string; name: string; icon: IconName }[] = [
  { to: "today", name: "Today", icon: "usage" },
  { to: "accounts", name: "Accounts", icon: "people" },
  { to: "money", name: "Money", icon: "billing" },
  { to: "work", name: "Tasks and webhooks", icon: "tasks" },
  { to: "requests", name: "All requests", icon: "requests" },
  { to: "alarms", name: "Alarms", icon: "alarm" },
  { to: "incidents", name: "Incidents", icon: "book" },
  { to: "abuse", name: "Abuse", icon: "block" },
  { to: "upstreams", name: "Upstreams", icon: "refresh" },
  { to: "catalog", name: "Catalog", icon: "models" },
  { to: "audit", name: "Audit log", icon: "audit" },
];

/** The page of a path with its parameters; `null` if there is none. */
export function findAdminPage(path: string): { Page: ComponentType; params: Record<string, string> } | null {
  const words = path.split("/").filter((word) => word !== "");
  for (const { path: pattern, Page } of adminPages) {
    const parts = pattern.split("/");
    const isMatch =
      parts.length === words.length && parts.every((part, index) => part.startsWith(":") || part === words[index]);
    if (!isMatch) continue;
    const named = parts.flatMap((part, index) => (part.startsWith(":") ? [[part.slice(1), words[index] ?? ""]] : []));
    return { Page, params: Object.fromEntries(named) };
  }
  return null;
}

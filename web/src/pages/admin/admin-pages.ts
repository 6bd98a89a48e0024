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
  { path: "tasks/:id", Page: lazyPage(() => import("./work/any-task-page.tsx"), "AnyTaskPage") },
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
  { path: "operators", Page: lazyPage(() => import("./operators/operators-page.tsx"), "OperatorsPage") },
  { path: "audit", Page: lazyPage(() => import("./audit/audit-page.tsx"), "AuditPage") },
];

/** Where `/console/admin` leads. */
export const firstAdminPage = "today";

/** Icons of these pages only, which customers' scripts do not contain. */
const drawings = {
  people:
    "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.5a2.2 2.2 0 0 1 0 4.2M12 9.8c1.5.5 2.5 1.8 2.5 3.7",
  alarm: "M8 2a4 4 0 0 0-4 4v3L2.5 11.5h11L12 9V6a4 4 0 0 0-4-4zM6.5 13.5h3",
  block: "M8 14A6 6 0 1 1 8 2a6 6 0 0 1 0 12zM3.8 3.8l8.4 8.4",
  audit: "M4 2.5h8v11H4zM6 5.5h4M6 8h4M6 10.5h2",
};

type AdminPlace = { to: string; name: string } & ({ icon: IconName } | { drawing: string });

/** The pages in the navigation. */
export const adminNavigation: readonly AdminPlace[] = [
  { to: "today", name: "Today", icon: "usage" },
  { to: "accounts", name: "Accounts", drawing: drawings.people },
  { to: "money", name: "Money", icon: "billing" },
  { to: "work", name: "Tasks and webhooks", icon: "tasks" },
  { to: "requests", name: "All requests", icon: "requests" },
  { to: "alarms", name: "Alarms", drawing: drawings.alarm },
  { to: "incidents", name: "Incidents", icon: "book" },
  { to: "abuse", name: "Abuse", drawing: drawings.block },
  { to: "upstreams", name: "Upstreams", icon: "refresh" },
  { to: "catalog", name: "Catalog", icon: "models" },
  { to: "operators", name: "Operators", icon: "keys" },
  { to: "audit", name: "Audit log", drawing: drawings.audit },
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

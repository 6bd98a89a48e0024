import type { AdminKey } from "../fetch-admin.ts";

export const scopeNames: Readonly<Record<AdminKey["scopes"][number], string>> = {
  accounts: "Accounts",
  requests: "Requests",
  upstreams: "Upstreams",
  catalog: "Catalog",
  money: "Money",
  work: "Tasks and webhooks",
  alarms: "Alarms",
  audit: "Audit log",
  status: "Incidents",
  operators: "Operators",
};

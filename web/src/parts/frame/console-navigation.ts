import type { IconName } from "../../design/icon.tsx";

type Place = { to: string; name: string; icon: IconName };

/** Console pages for navigation and search. */
export const consoleNavigation: readonly { name: string; places: readonly Place[] }[] = [
  {
    name: "Start",
    places: [
      { to: "/console", name: "Overview", icon: "overview" },
      { to: "/console/playground", name: "Playground", icon: "playground" },
      { to: "/console/models", name: "Models and prices", icon: "models" },
    ],
  },
  {
    name: "Build",
    places: [
      { to: "/console/keys", name: "API keys", icon: "keys" },
      { to: "/console/requests", name: "Requests", icon: "requests" },
      { to: "/console/tasks", name: "Tasks", icon: "tasks" },
      { to: "/console/webhooks", name: "Webhooks", icon: "webhooks" },
    ],
  },
  {
    name: "Account",
    places: [
      { to: "/console/usage", name: "Usage", icon: "usage" },
      { to: "/console/billing", name: "Billing", icon: "billing" },
      { to: "/console/settings", name: "Settings", icon: "settings" },
    ],
  },
];

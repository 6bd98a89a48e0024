import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { AdminTabs } from "../admin-tabs.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Queues } from "./queues.tsx";
import { Storage } from "./storage.tsx";
import { WorkTasks } from "./work-tasks.tsx";

const tabs = [
  { id: "tasks", label: "Tasks" },
  { id: "webhooks", label: "Webhooks" },
  { id: "queues", label: "Queues" },
  { id: "storage", label: "Storage" },
] as const;

const views = { tasks: WorkTasks, webhooks: Deliveries, queues: Queues, storage: Storage } as const;

/** The work of all accounts: tasks, webhooks, queues and files. */
export function WorkPage() {
  return (
    <ConsoleFrame title="Tasks and webhooks" intro="The work of all accounts, stuck tasks first.">
      <AdminTabs label="Work" tabs={tabs}>
        {(chosen) => {
          const View = views[chosen];
          return <View />;
        }}
      </AdminTabs>
    </ConsoleFrame>
  );
}

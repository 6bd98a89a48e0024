import { useTableQuery } from "../../../api/use-table-query.ts";
import { Badge } from "../../../design/badge.tsx";
import { Button, buttonClasses } from "../../../design/button.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Notice } from "../../../design/notice.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { AdminLink } from "../admin-place.tsx";
import { adminQueries } from "../admin-query-table.ts";
import type { Setup } from "../fetch-admin.ts";

type Step = Setup["steps"][number];

const steps: Readonly<Record<Step["name"], { title: string; what: string; to?: string; action?: string }>> = {
  vendor_key: {
    title: "Vendor key",
    what: "Choose a vendor and store its key. Sluice checks the key first.",
    ...{ to: "upstreams/add", action: "Add a vendor" },
  },
  models: {
    title: "Models",
    what: "Choose which models of the vendor you sell.",
    to: "upstreams/add",
    action: "Add models",
  },
  prices: {
    title: "Prices",
    what: "A model without a price is not offered.",
    to: "catalog",
    action: "Open the catalog",
  },
  payments: { title: "Payments", what: "Set stripe_secret_key in the settings, and restart. Or book credit by hand." },
  mail: { title: "Mail", what: "Set smtp_url in the settings, and restart. Sign-ups and alerts need it." },
  backups: { title: "Backups", what: "Run sluicectl backup every day, or set wal_archive." },
  first_call: { title: "First paid call", what: "Create a key in the console and call a model." },
};

/** From an empty database to the first paid call. */
export function SetupPage() {
  const setup = useTableQuery(adminQueries.adminSetup.steps());
  const check = () => void setup.refetch();
  return (
    <ConsoleFrame
      title="Set up"
      intro="From an empty database to the first paid call. Sluice checks each step itself."
      actions={
        <Button isBusy={setup.isFetching} onClick={check}>
          Check again
        </Button>
      }
    >
      {setup.data !== undefined ? (
        <Steps setup={setup.data} />
      ) : setup.error !== null ? (
        <LoadFailure error={setup.error} onRetry={check} />
      ) : (
        <Skeleton className="h-96" />
      )}
    </ConsoleFrame>
  );
}

function Steps({ setup }: { setup: Setup }) {
  return (
    <div className="flex flex-col gap-4">
      {setup.done && <Notice kind="success" title="Everything is set up." />}
      <ol className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
        {setup.steps.map(({ name, done, found }) => {
          const { title, what, to, action } = steps[name];
          return (
            <li key={name} className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-4 py-3">
              <div className="min-w-0 flex-1 basis-64">
                <p className="flex items-center gap-2 font-medium">
                  {title} <Badge kind={done ? "good" : "warning"}>{done ? "Done" : "Open"}</Badge>
                </p>
                <p className="text-sm text-ink-soft">{done ? found : `${what} ${found}`}</p>
              </div>
              {!done && to !== undefined && (
                <AdminLink to={to} className={buttonClasses("plain")}>
                  {action}
                </AdminLink>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

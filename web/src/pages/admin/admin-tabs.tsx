import type { ReactNode } from "react";
import { type Tab, Tabs } from "../../design/tabs.tsx";
import { useAdminPlace } from "./admin-place.tsx";

type AdminTabsProps<Id extends string> = { label: string; tabs: readonly Tab<Id>[]; children(chosen: Id): ReactNode };

/** Tabs of a page; the chosen one is in the URL as `view`. Another tab has other filters. */
export function AdminTabs<Id extends string>({ label, tabs, children }: AdminTabsProps<Id>) {
  const { search, change } = useAdminPlace();
  const chosen = tabs.find(({ id }) => id === search.view)?.id ?? tabs[0]?.id;
  if (chosen === undefined) return null;
  const cleared = Object.fromEntries(Object.keys(search).map((name) => [name, ""]));
  return (
    <Tabs label={label} tabs={tabs} chosen={chosen} onChoose={(view) => change({ ...cleared, view })}>
      <div className="flex flex-col gap-4">{children(chosen)}</div>
    </Tabs>
  );
}

import type { QueryClient } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { queryTable } from "../../api/query-table.ts";
import { InsideFrame } from "../../parts/frame/message-frame.tsx";
import { OpenPage } from "../../parts/frame/open-page.tsx";
import { SearchButton } from "../../parts/frame/search-button.tsx";
import { DocsContents } from "./docs-contents.tsx";

/** Samples use the service's own address. */
export const prefetch = (queries: QueryClient) => queries.ensureQueryData(queryTable.site.settings());

/** Contents and search around guide and reference. */
export function DocsLayout() {
  return (
    <OpenPage isWide search={<SearchButton />}>
      <div className="grid gap-x-10 gap-y-6 pt-4 pb-10 lg:grid-cols-[14rem_minmax(0,1fr)] lg:pt-0 xl:gap-x-14">
        <DocsContents />
        <div className="min-w-0 lg:pt-10">
          <InsideFrame value={true}>
            <Outlet />
          </InsideFrame>
        </div>
      </div>
    </OpenPage>
  );
}

import { Link } from "@tanstack/react-router";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Section } from "../../design/section.tsx";
import { FirstCall } from "../../parts/samples/first-call.tsx";

/** Shown instead of an empty log. */
export function FirstRequest() {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: models } = useTableQuery(queryTable.models.list());
  const callable = models?.data.filter(({ status }) => status !== "unavailable");
  const model = callable?.find(({ type }) => type === "chat") ?? callable?.[0];
  return (
    <>
      <EmptyState
        title="No requests yet"
        action={
          <div className="flex flex-wrap justify-center gap-3">
            <Link to="/console/keys" search={{ key: "new" }} className={buttonClasses("primary")}>
              Create an API key
            </Link>
            <Link to="/console/playground" className={buttonClasses("plain")}>
              Try it in the playground
            </Link>
          </div>
        }
      >
        Make your first call with an API key. It appears here automatically, with its status, latency, tokens and cost.
        Playground runs are in Usage.
      </EmptyState>
      {model !== undefined && site !== undefined && (
        <Section title="Your first call" intro="Replace the key in the code with yours.">
          <FirstCall model={model} baseUrl={site.base_url} />
        </Section>
      )}
    </>
  );
}

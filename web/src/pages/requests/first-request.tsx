import { Link } from "@tanstack/react-router";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { Section } from "../../design/section.tsx";
import { FirstCall } from "../../parts/samples/first-call.tsx";

/** In the place of a log that has nothing in it: how the first call is made. */
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
        Make your first call and it appears here by itself, with its status, latency, tokens and cost.
      </EmptyState>
      {model !== undefined && site !== undefined && (
        <Section title="Your first call" intro="Put your key in the place of the one in the code.">
          <FirstCall model={model} baseUrl={site.base_url} />
        </Section>
      )}
    </>
  );
}

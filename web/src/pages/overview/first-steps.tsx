import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Badge } from "../../design/badge.tsx";
import { buttonClasses } from "../../design/button.tsx";
import { CopyableText } from "../../design/copyable-text.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { isMoneyZero } from "../../parts/format/sum-money.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { FirstCall } from "../../parts/samples/first-call.tsx";

/** Shown until there is usage: how to make the first call. */
export function FirstSteps() {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: models } = useTableQuery(queryTable.models.list());
  const { data: balance } = useTableQuery(queryTable.balance.now());
  const { data: keys } = useTableQuery(queryTable.keys.live());
  const hasKey = keys?.data.some(({ kind }) => kind !== "console") === true;
  const hasCredit = balance !== undefined && !isMoneyZero(balance.available_balance);
  const callable = models?.data.filter(({ status }) => status !== "unavailable");
  const model = callable?.find(({ type }) => type === "chat") ?? callable?.[0];
  return (
    <Section title="First steps" intro="Make your first call to see usage.">
      <ol className="flex flex-col divide-y divide-line border-y border-line">
        <Step number={1} title="Create an API key" isDone={hasKey}>
          <p>Authenticates your requests. It is shown once, when it is created.</p>
          <Link to="/console/keys" className={buttonClasses(hasKey ? "plain" : "primary")}>
            {hasKey ? "See your keys" : "Create key"}
          </Link>
        </Step>
        <Step number={2} title="Add credit" isDone={hasCredit}>
          <p>Calls are paid from your balance. Redeem a code, or pay by card where card payments are enabled.</p>
          <Link to="/console/billing" className={buttonClasses("plain")}>
            Go to billing
          </Link>
        </Step>
        <Step number={3} title="Set the base URL">
          <p>Any OpenAI client works with this base URL, and Anthropic's without its /v1:</p>
          {site === undefined ? (
            <Skeleton className="h-5 w-64" />
          ) : (
            <CopyableText text={site.base_url} label="the base URL" />
          )}
        </Step>
        <Step number={4} title="Make your first call">
          {model === undefined || site === undefined ? (
            <FirstCallPlace hasModels={models === undefined || models.data.length > 0} />
          ) : (
            <div className="w-full min-w-0">
              <FirstCall model={model} baseUrl={site.base_url} />
            </div>
          )}
          <p>
            Or{" "}
            <Link to="/console/playground" className={linkClasses}>
              try it in the playground
            </Link>
            , without a key.
          </p>
        </Step>
      </ol>
    </Section>
  );
}

function FirstCallPlace({ hasModels }: { hasModels: boolean }) {
  if (hasModels) return <Skeleton className="h-72 w-full" />;
  return <p>No models yet: the operator decides which models accounts can use.</p>;
}

type StepProps = { number: number; title: string; isDone?: boolean; children: ReactNode };

function Step({ number, title, isDone = false, children }: StepProps) {
  return (
    <li className="flex gap-4 py-5">
      <span
        aria-hidden="true"
        className="flex size-7 shrink-0 items-center justify-center rounded-full bg-sunken text-sm font-medium tabular-nums"
      >
        {number}
      </span>
      <div className="flex min-w-0 flex-1 flex-col items-start gap-3 text-sm text-ink-soft">
        <h3 className="flex items-center gap-3 text-base font-medium text-ink">
          {title}
          {isDone && <Badge kind="good">Done</Badge>}
        </h3>
        {children}
      </div>
    </li>
  );
}

import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { isOver, type Task } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CopyableText } from "../../design/copyable-text.tsx";
import { formatMoney } from "../../parts/format/format-money.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { linkClasses } from "../../parts/frame/focus-page.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { listTimeline } from "./list-timeline.ts";

export function TaskFacts({ task }: { task: Task }) {
  const metadata = Object.entries(task.metadata ?? {});
  return (
    <div className="flex min-w-0 flex-col gap-8 text-sm">
      <Fact title="Timeline">
        <TaskTimeline task={task} />
      </Fact>
      <Fact title="Charge">
        <Charge task={task} />
      </Fact>
      <Fact title="Model">
        <Link to="/console/models/$" params={{ _splat: task.model }} className={linkClasses}>
          {task.model}
        </Link>
      </Fact>
      {task.parent_id !== undefined && (
        <Fact title="Part of">
          <Link to="/console/tasks/$id" params={{ id: task.parent_id }} className={linkClasses}>
            {task.parent_id}
          </Link>
        </Fact>
      )}
      {metadata.length > 0 && (
        <Fact title="Metadata">
          <dl className="flex flex-col gap-1">
            {metadata.map(([name, value]) => (
              <div key={name} className="grid grid-cols-[8rem_minmax(0,1fr)] gap-3">
                <dt className="text-ink-soft">{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </Fact>
      )}
      <Fact title="Request ID">
        <CopyableText text={task.request_id} label="request ID" />
        {task.client_request_id !== undefined && <CopyableText text={task.client_request_id} label="your request ID" />}
      </Fact>
    </div>
  );
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function Charge({ task }: { task: Task }) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  if (site === undefined) return <p>&nbsp;</p>;
  const { charge, estimated_charge: estimate } = task.usage;
  if (task.parent_id !== undefined) return <p className="text-ink-soft">Charged with its parent task.</p>;
  if (!isOver(task) || charge === undefined) {
    return (
      <p>
        <span className="tabular-nums">{formatMoney(estimate, site.currency)}</span>{" "}
        <span className="text-ink-soft">on hold (the maximum cost)</span>
      </p>
    );
  }
  return (
    <div className="flex flex-col gap-1">
      <p className="text-lg font-semibold tabular-nums">{formatMoney(charge, site.currency)}</p>
      <ChargeLink taskId={task.id} />
    </div>
  );
}

/** Free tasks have no charge. */
function ChargeLink({ taskId }: { taskId: string }) {
  const { data } = useTableQuery(queryTable.charges.ofTask(taskId));
  const [found] = data?.data ?? [];
  if (found === undefined) return null;
  return (
    <Link to="/console/usage/charges/$id" params={{ id: found.id }} className={linkClasses}>
      Explain this charge
    </Link>
  );
}

function TaskTimeline({ task }: { task: Task }) {
  const { time_zone: timeZone } = useSession().account;
  const nowMs = useNowMs(!isOver(task));
  return (
    <ol className="flex flex-col gap-4 border-l border-line-strong pl-4">
      {listTimeline(task, nowMs).map(({ name, at, detail }) => (
        <li key={name} className="relative">
          <span aria-hidden="true" className="absolute top-1.5 -left-[1.3125rem] size-2.5 rounded-full bg-accent" />
          <p className="font-medium">{name}</p>
          <p className="text-ink-soft">
            <time dateTime={at}>{formatMoment(at, timeZone)}</time>
            {detail !== "" && <span className="tabular-nums"> · {detail}</span>}
          </p>
        </li>
      ))}
    </ol>
  );
}

/** The current time, updated every second while active. */
function useNowMs(isRunning: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNowMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return nowMs;
}

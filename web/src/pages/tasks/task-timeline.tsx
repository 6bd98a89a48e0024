import { useEffect, useState } from "react";
import { isOver, type Task } from "../../api/ask-tasks.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { useSession } from "../../parts/session/use-session.ts";
import { listMoments } from "./list-moments.ts";

export function TaskTimeline({ task }: { task: Task }) {
  const { time_zone: timeZone } = useSession().account;
  const nowMs = useNowMs(!isOver(task));
  return (
    <ol className="flex flex-col gap-4 border-l border-line-strong pl-4">
      {listMoments(task, nowMs).map(({ name, at, detail }) => (
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

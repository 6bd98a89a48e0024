import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";

const textsFirst = ["title", "prompt", "input", "script"];
const charactersMax = 400;

/** The shown task's request, with a button that restores it into the form. */
export function RunRequest({ taskId, onEdit }: { taskId: string; onEdit(): void }) {
  const { data, error, refetch } = useTableQuery(queryTable.tasks.request(taskId));
  if (error !== null) return <LoadFailure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton className="h-16" />;
  const body = data.body as Record<string, unknown>;
  const texts = textsFirst.flatMap((name) => (typeof body[name] === "string" ? [String(body[name])] : []));
  const facts = Object.entries(body).filter(
    ([name, value]) =>
      name !== "model" && !textsFirst.includes(name) && !name.endsWith("_file_id") && typeof value !== "object",
  );
  return (
    <section aria-label="Request" className="flex flex-col gap-2 rounded-lg border border-line bg-surface p-4 text-sm">
      {texts.map((text) => (
        <p key={text} className="line-clamp-4 whitespace-pre-line">
          {text.slice(0, charactersMax)}
        </p>
      ))}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-soft">
        <code className="font-mono">{String(body.model)}</code>
        {facts.map(([name, value]) => (
          <span key={name}>
            {name.replaceAll("_", " ")} {String(value)}
          </span>
        ))}
        <Button look="quiet" className="-mr-2 ml-auto" onClick={onEdit}>
          Edit and run again
        </Button>
      </div>
    </section>
  );
}

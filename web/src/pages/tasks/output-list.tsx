import type { Task, TaskOutput } from "../../api/fetch-tasks.ts";
import { joinClasses } from "../../design/join-classes.ts";
import { formatMoment } from "../../parts/format/format-time.ts";
import { nameDownload } from "../../parts/records/name-download.ts";
import { OutputView } from "../../parts/records/output-view.tsx";
import { useSession } from "../../parts/session/use-session.ts";

/** The output, with its expiry. */
export function OutputList({ task }: { task: Pick<Task, "model" | "prompt" | "created" | "output"> }) {
  const { output } = task;
  const { time_zone: timeZone } = useSession().account;
  const [first] = output.map(({ expires_at: expiresAt }) => expiresAt).toSorted();
  if (first === undefined) return null;
  if (Date.parse(first) <= Date.now()) {
    return <p className="text-sm text-ink-soft">The output expired {formatMoment(first, timeZone)}.</p>;
  }
  const named = output.map((item, index) => ({
    item,
    name: nameOutput(item, index, output),
    downloadName: nameDownload(task, index),
  }));
  return (
    <div className="flex flex-col gap-4">
      {groups.map(({ name: group, types, classes }) => {
        const items = named.filter(({ item }) => types.includes(item.type));
        if (items.length === 0) return null;
        return (
          <ul key={group} aria-label={group} className={joinClasses("grid gap-4", items.length > 1 && classes)}>
            {items.map(({ item, name, downloadName }) => (
              <li key={item.file_id} className="min-w-0">
                <OutputView output={item} name={name} downloadName={downloadName} />
              </li>
            ))}
          </ul>
        );
      })}
      <p className="text-xs text-ink-soft">Stored until {formatMoment(first, timeZone)}. Links expire after a day.</p>
    </div>
  );
}

/** Media first, documents last. */
const groups: readonly { name: string; types: readonly string[]; classes: string }[] = [
  { name: "Videos", types: ["video"], classes: "sm:grid-cols-2" },
  { name: "Images", types: ["image"], classes: "sm:grid-cols-2" },
  { name: "Audio", types: ["audio"], classes: "" },
  { name: "Documents", types: ["script", "roles", "storyboard", "subtitles"], classes: "" },
];

function nameOutput({ type }: TaskOutput, index: number, all: readonly TaskOutput[]): string {
  const word = `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  const same = all.filter((item) => item.type === type);
  const position = all.slice(0, index + 1).filter((item) => item.type === type).length;
  return same.length === 1 ? word : `${word} ${position}`;
}

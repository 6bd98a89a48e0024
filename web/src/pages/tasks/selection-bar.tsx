import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { isOver, type Task } from "../../api/ask-tasks.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { Icon } from "../../design/icon.tsx";
import { useToast } from "../../design/toast.tsx";
import { CancelTasksDialog } from "./cancel-tasks-dialog.tsx";
import { findInput } from "./choose-cover.ts";
import { downloadOutputs, listDownloads } from "./download-outputs.ts";

/** Actions for the selected tasks; stays visible. */
export function SelectionBar({ tasks, onClear }: { tasks: readonly Task[]; onClear(): void }) {
  const showToast = useToast();
  // A snapshot: some may end while the dialog is open.
  const [asked, setAsked] = useState<readonly Task[] | null>(null);
  const [only] = tasks;
  if (only === undefined) return null;
  const open = tasks.filter((task) => !isOver(task));
  const downloads = listDownloads(tasks, new Date());
  const input = tasks.length === 1 ? findInput(only, new Date()) : null;
  return (
    <section
      aria-label="Selected tasks"
      className="sticky bottom-4 z-20 mx-auto flex max-w-full flex-wrap items-center gap-2 rounded-lg border border-line bg-surface p-2 pl-4 shadow-float"
    >
      <p aria-live="polite" className="mr-2 text-sm font-medium tabular-nums">
        {tasks.length} selected
      </p>
      {downloads.length > 0 && (
        <Button
          onClick={() => {
            void downloadOutputs(downloads);
            showToast(downloads.length === 1 ? "Downloading 1 file." : `Downloading ${downloads.length} files.`);
          }}
        >
          <Icon name="download" />
          Download{downloads.length > 1 ? ` ${downloads.length} files` : ""}
        </Button>
      )}
      {tasks.length === 1 && only.prompt_erased_at === undefined && (
        <Link to="/console/playground" search={{ model: only.model, task: only.id }} className={buttonClasses("plain")}>
          Run again
        </Link>
      )}
      {input !== null && (
        <Link to="/console/playground" search={{ input: input.file_id }} className={buttonClasses("plain")}>
          Use as input
        </Link>
      )}
      {open.length > 0 && (
        <Button look="danger" onClick={() => setAsked(open)}>
          {open.length === 1 ? "Cancel task" : `Cancel ${open.length} tasks`}
        </Button>
      )}
      <Button look="quiet" onClick={onClear}>
        Clear selection
      </Button>
      {asked !== null && <CancelTasksDialog tasks={asked} onClose={() => setAsked(null)} />}
    </section>
  );
}

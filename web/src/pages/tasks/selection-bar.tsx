import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { cancelTask, isOver, type Task } from "../../api/fetch-tasks.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Button, buttonClasses } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Icon } from "../../design/icon.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { nameDownload } from "../../parts/records/name-download.ts";
import { linkDownload } from "../../parts/records/output-links.ts";
import { findInput } from "./choose-cover.ts";

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

/** Browsers block more downloads at once. */
const downloadsMax = 50;
const pauseMs = 250;

/** Files that have not expired. */
function listDownloads(tasks: readonly Task[], now: Date): string[] {
  return tasks
    .flatMap((task) =>
      task.output.flatMap((output, index) =>
        new Date(output.expires_at) > now ? [linkDownload(output, nameDownload(task, index))] : [],
      ),
    )
    .slice(0, downloadsMax);
}

/** Sequential: browsers keep only the last of several simultaneous downloads. */
async function downloadOutputs(links: readonly string[]): Promise<void> {
  for (const [index, link] of links.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const anchor = document.createElement("a");
    anchor.href = link;
    anchor.download = "";
    anchor.click();
  }
}

function CancelTasksDialog({ tasks, onClose }: { tasks: readonly Task[]; onClose(): void }) {
  const answers = useQueryCache();
  const showToast = useToast();
  const cancel = useAction(
    () => Promise.allSettled(tasks.map(({ id }) => cancelTask(id))),
    (outcomes) => {
      void answers.refresh("tasks", "balance");
      const ended = outcomes.filter((outcome) => outcome.status === "fulfilled" && isOver(outcome.value)).length;
      showToast(
        `${ended} of ${tasks.length} canceled${ended < tasks.length ? "; the others can no longer be canceled" : ""}.`,
      );
      onClose();
    },
  );
  const name = tasks.length === 1 ? "task" : `${tasks.length} tasks`;
  return (
    <Dialog title={`Cancel ${tasks.length === 1 ? "this task" : name}?`} onClose={onClose}>
      <p className="text-sm text-ink-soft">
        Tasks that have not started cost nothing. For the others you pay only for output that is already finished, and
        you keep it. A canceled task cannot be restarted.
      </p>
      <FormError message={cancel.errorBeside()} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Keep running</Button>
        <Button look="danger" isBusy={cancel.isBusy} onClick={() => cancel.run(undefined)}>
          Cancel {name}
        </Button>
      </div>
    </Dialog>
  );
}

import { cancelTask, isOver, type Task } from "../../api/fetch-tasks.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { useToast } from "../../design/toast.tsx";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

export function CancelTaskDialog({ task, onClose }: { task: Task; onClose(): void }) {
  const answers = useQueryCache();
  const showToast = useToast();
  const cancel = useAction(
    () => cancelTask(task.id),
    (answer) => {
      answers.write(queryTable.tasks.one(task.id), answer);
      showToast(
        isOver(answer)
          ? `The task has ended: ${describeTaskStatus(answer.status).name.toLowerCase()}.`
          : "Cancellation requested.",
      );
      onClose();
    },
  );
  return (
    <Dialog title="Cancel this task?" onClose={onClose}>
      <p className="text-sm text-ink-soft">
        {task.status === "queued"
          ? "It has not started, so it costs nothing. A canceled task cannot be restarted."
          : "You pay only for output that is already finished, and you keep it. A canceled task cannot be restarted."}
      </p>
      <FormError message={cancel.errorBeside()} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Keep running</Button>
        <Button look="danger" isBusy={cancel.isBusy} onClick={() => cancel.run(undefined)}>
          Cancel task
        </Button>
      </div>
    </Dialog>
  );
}

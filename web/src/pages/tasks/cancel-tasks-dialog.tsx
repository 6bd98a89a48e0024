import { cancelTask, isOver, type Task } from "../../api/ask-tasks.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

export function CancelTasksDialog({ tasks, onClose }: { tasks: readonly Task[]; onClose(): void }) {
  const answers = useAnswerCache();
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

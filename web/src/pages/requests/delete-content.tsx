import { deleteContent } from "../../api/ask-requests.ts";
import { queryTable } from "../../api/query-table.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

export function DeleteContent({ id, onClose }: { id: string; onClose(): void }) {
  const answers = useAnswerCache();
  const showToast = useToast();
  const action = useAction(
    () => deleteContent(id),
    (content) => {
      answers.write(queryTable.requests.content(id), content);
      showToast("Content deleted.");
    },
  );
  return (
    <Dialog title="Delete the content?" onClose={onClose}>
      <p className="text-sm text-ink-soft">
        The request and response bodies are deleted permanently. The request stays in the log.
      </p>
      <FormError message={action.errorBeside()} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="danger" isBusy={action.isBusy} onClick={() => action.run(undefined)}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}

import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useAnswerCache } from "../../api/use-answer-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { DataList, DataListText } from "../../design/data-list.tsx";
import { useToast } from "../../design/toast.tsx";
import { describeBrowser } from "../../parts/format/describe-browser.ts";
import { formatSince } from "../../parts/format/format-time.ts";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";

export function SessionsSection() {
  const answers = useAnswerCache();
  const showToast = useToast();
  const sessions = useTableQuery(queryTable.sessions.list());
  const refresh = (sentence: string) => {
    showToast(sentence);
    return answers.refresh("sessions");
  };
  const endOne = useAction(
    (id: string) => ask(api.DELETE("/sessions/{id}", { params: { path: { id } } })),
    () => refresh("Session ended."),
  );
  const endOthers = useAction(
    () => ask(api.DELETE("/sessions")),
    () => refresh("All other sessions have ended."),
  );
  const hasOthers = (sessions.data?.data.length ?? 0) > 1;
  return (
    <Card
      title="Sessions"
      intro="Where you are signed in. End sessions that you do not recognize, then change your password."
      actions={
        hasOthers && (
          <Button look="danger" isBusy={endOthers.isBusy} onClick={() => endOthers.run(undefined)}>
            End all others
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <FormError message={endOne.errorBeside() ?? endOthers.errorBeside()} />
        <DataList label="Sessions" query={sessions} empty="No sessions." keyOf={({ id }) => id}>
          {(session) => (
            <>
              <DataListText
                title={describeBrowser(session.user_agent)}
                detail={`${session.is_current ? "This session" : `Last seen ${formatSince(session.last_seen_at, new Date())}`} · ${session.address}`}
              />
              {!session.is_current && (
                <Button
                  look="danger"
                  onClick={() => endOne.run(session.id)}
                  aria-label={`End the session of ${describeBrowser(session.user_agent)}`}
                >
                  End
                </Button>
              )}
            </>
          )}
        </DataList>
      </div>
    </Card>
  );
}

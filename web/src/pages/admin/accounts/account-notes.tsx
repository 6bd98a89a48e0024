import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { usePageQuery } from "../../../api/use-page-query.ts";
import { Button } from "../../../design/button.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { LoadMore } from "../../../design/load-more.tsx";
import { Section } from "../../../design/section.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { TextArea } from "../../../design/text-area.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";

/** What operators remember of an account. Its owner never sees it. */
export function AccountNotes({ accountId }: { accountId: string }) {
  const { time_zone: timeZone } = useSession().account;
  const [text, setText] = useState("");
  const refresh = useAdminRefresh();
  const { rows, more, error, onRetry } = usePageQuery(adminQueries.adminAccounts.notes(accountId));
  const add = useAction(
    () =>
      ask(
        adminApi.POST("/accounts/{account_id}/notes", {
          params: { path: { account_id: accountId } },
          body: { text },
        }),
      ),
    () => {
      setText("");
      void refresh("adminAccounts");
    },
  );
  return (
    <Section title="Notes" intro="For operators. Customers don't see them.">
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          add.run(undefined);
        }}
      >
        <FormError message={add.errorBeside("text")} />
        <TextArea
          label="New note"
          name="text"
          maxLength={4000}
          value={text}
          onChange={setText}
          error={add.errorAt("text")}
        />
        <div>
          <Button type="submit" isBusy={add.isBusy} isDisabled={text.trim() === ""}>
            Add note
          </Button>
        </div>
      </form>
      {rows === undefined && error === null && <Skeleton className="h-12" />}
      {rows === undefined && error !== null && (
        <LoadFailure title="Could not load the notes." error={error} onRetry={onRetry} />
      )}
      {rows !== undefined && rows.length > 0 && (
        <ul aria-label="Notes" className="divide-y divide-line border-y border-line">
          {rows.map((note) => (
            <li key={note.id} className="py-3 text-sm">
              <p className="wrap-anywhere whitespace-pre-wrap">{note.text}</p>
              <p className="mt-1 text-xs text-ink-soft">
                {note.author}, {formatMoment(note.created_at, timeZone)}
              </p>
            </li>
          ))}
        </ul>
      )}
      <LoadMore {...more} />
    </Section>
  );
}

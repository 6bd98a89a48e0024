import { useState } from "react";
import type { NewApiKey } from "../../api/ask-keys.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { CodeBlock } from "../../design/code-block.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { Notice } from "../../design/notice.tsx";
import { SecretText } from "../../design/secret-text.tsx";
import { writeFirstCall } from "./write-first-call.ts";

type PlainKeyDialogProps = { made: NewApiKey; onKept(): void };

/** The one time that a key is seen. It is only in this page's memory, and gone when the dialog is. */
export function PlainKeyDialog({ made, onKept }: PlainKeyDialogProps) {
  const [isWarned, setWarned] = useState(false);
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: models } = useTableQuery(queryTable.models.list());
  return (
    <Dialog
      title={`Keep the key “${made.name}” now`}
      size="wide"
      // A slip on Escape must not cost the key.
      onClose={() => (isWarned ? onKept() : setWarned(true))}
    >
      <Notice kind="warning">
        This is the only time that it is shown. Whoever has it can spend from your account: keep it on a server or in a
        secret store, never in a page, an app or a repository.
      </Notice>
      <SecretText label="Your new key" text={made.key} />
      {site !== undefined && models !== undefined && (
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">A first call with it</h3>
          <CodeBlock label="First call" code={writeFirstCall(made, { baseUrl: site.base_url, models: models.data })} />
        </div>
      )}
      {isWarned && <Notice kind="error">Press Escape again only if you have kept it. It cannot be shown again.</Notice>}
      <div className="flex justify-end">
        <Button look="primary" onClick={onKept}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}

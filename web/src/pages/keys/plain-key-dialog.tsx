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

type PlainKeyDialogProps = { made: NewApiKey; onDone(): void };

/** The only time a key is shown. It exists only in this page's memory. */
export function PlainKeyDialog({ made, onDone }: PlainKeyDialogProps) {
  const [isWarned, setWarned] = useState(false);
  const { data: site } = useTableQuery(queryTable.site.settings());
  const { data: models } = useTableQuery(queryTable.models.list());
  return (
    <Dialog
      title={`Save your key “${made.name}”`}
      size="wide"
      // An accidental Escape must not lose the key.
      onClose={() => (isWarned ? onDone() : setWarned(true))}
    >
      <Notice kind="warning">
        The key is shown only once. Anyone who has it can spend your balance: store it on a server or in a secret
        manager, never in a web page, an app or a repository.
      </Notice>
      <SecretText label="Your new key" text={made.key} />
      {site !== undefined && models !== undefined && (
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-medium">First call</h3>
          <CodeBlock label="First call" code={writeFirstCall(made, { baseUrl: site.base_url, models: models.data })} />
        </div>
      )}
      {isWarned && (
        <Notice kind="error">Press Escape again only if you have saved the key. It cannot be shown again.</Notice>
      )}
      <div className="flex justify-end">
        <Button look="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { SelectField } from "../../../design/select-field.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { adminApi } from "../admin-api.ts";
import { useAdminRefresh } from "../admin-query-table.ts";
import type { BlockKind } from "../fetch-watch.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

export const blockKindNames = [
  { value: "network", label: "Network" },
  { value: "domain", label: "Mail domain" },
  { value: "mailbox", label: "Mailbox" },
  { value: "disposable", label: "Disposable domain" },
] as const satisfies readonly { value: BlockKind; label: string }[];

const effects: Record<BlockKind, string> = {
  network: "It can neither call nor sign in, within a second. Include no network that you use yourself.",
  domain: "It and its subdomains cannot sign up. Existing accounts stay.",
  mailbox: "It cannot sign up. Existing accounts stay.",
  disposable: "It cannot sign up. The error asks for a lasting address.",
};

const ends = [
  { value: "", label: "Until it is removed" },
  { value: "24", label: "For 1 day" },
  { value: "168", label: "For 7 days" },
  { value: "720", label: "For 30 days" },
] as const;
const hourMs = 60 * 60_000;

type BlockDialogProps = { kind: BlockKind; subject: string; onClose(): void };

/** A new block. */
export function BlockDialog({ kind: first, subject: given, onClose }: BlockDialogProps) {
  const [kind, setKind] = useState(first);
  const [subject, setSubject] = useState(given);
  const [hours, setHours] = useState("");
  const refresh = useAdminRefresh();
  return (
    <ReasonDialog
      title="Add block"
      submitName="Block"
      look="danger"
      fields={["subject", "ends_at"]}
      send={({ reason }) =>
        ask(
          adminApi.POST("/blocks", {
            body: {
              ...{ kind, subject, reason },
              ...(hours === "" ? {} : { ends_at: new Date(Date.now() + Number(hours) * hourMs).toISOString() }),
            },
          }),
        )
      }
      done="Blocked."
      onDone={() => void refresh("adminBlocks")}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          <SelectField
            label="Kind"
            options={blockKindNames}
            value={kind}
            onChange={(value) => setKind(blockKindNames.find((one) => one.value === value)?.value ?? "network")}
            hint={effects[kind]}
          />
          <TextField
            label="Subject"
            name="subject"
            maxLength={254}
            required
            hint="Such as 203.0.113.0/24, example.com or eve@example.com."
            value={subject}
            onChange={setSubject}
            error={errorAt("subject")}
          />
          <SelectField label="Duration" options={ends} value={hours} onChange={setHours} error={errorAt("ends_at")} />
        </>
      )}
    </ReasonDialog>
  );
}

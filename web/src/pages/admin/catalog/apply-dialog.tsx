import { type ReactNode, useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { SelectField } from "../../../design/select-field.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { adminApi } from "../admin-api.ts";
import { useAdminRefresh } from "../admin-query-table.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

type ApplyDialogProps = {
  catalog: string;
  baseVersion: number;
  title?: string;
  onApplied(): void;
  onClose(): void;
  /** What is applied, if the page behind does not show it. */
  children?: ReactNode;
};
type Problem = { line: number; message: string };

/** Applies a catalog now, or at a time. */
export function ApplyDialog({
  catalog,
  baseVersion,
  title = "Apply the catalog",
  onApplied,
  onClose,
  children,
}: ApplyDialogProps) {
  const refresh = useAdminRefresh();
  const [when, setWhen] = useState<"now" | "later">("now");
  const [time, setTime] = useState("");
  const isLater = when === "later";
  return (
    <ReasonDialog
      title={title}
      submitName={isLater ? "Schedule" : "Apply"}
      fields={["run_at"]}
      send={async ({ reason }) => {
        if (isLater) {
          const body = { catalog, run_at: readTime(time), reason };
          requireOk((await ask(adminApi.POST("/catalog/schedules", { body }))).check);
        } else {
          const body = { catalog, base_version: baseVersion, reason };
          requireOk(await ask(adminApi.POST("/catalog", { body })));
        }
      }}
      done={isLater ? "The change is scheduled." : "The catalog is live."}
      onDone={() => {
        void refresh("adminCatalog", "adminUpstreams", "adminSetup");
        onApplied();
      }}
      onClose={onClose}
    >
      {(errorAt) => (
        <>
          {children}
          <SelectField
            label="When"
            options={[
              { value: "now", label: "Now" },
              { value: "later", label: "At a time" },
            ]}
            value={when}
            onChange={(value) => setWhen(value === "later" ? "later" : "now")}
          />
          {isLater && (
            <TextField
              label="Time"
              name="run_at"
              type="datetime-local"
              hint="In this browser's time zone. The file is checked again then; if it fails, nothing changes."
              value={time}
              onChange={setTime}
              error={errorAt("run_at")}
            />
          )}
          <p className="text-sm text-ink-soft">Every process serves it within a second.</p>
        </>
      )}
    </ReasonDialog>
  );
}

/** An empty time is sent as it is, so that the server names the field. */
function readTime(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? local : time.toISOString();
}

function requireOk({ ok, problems }: { ok: boolean; problems: readonly Problem[] }): void {
  const [first] = problems;
  if (!ok) throw new Error(first === undefined ? "A check failed." : `Line ${first.line}: ${first.message}`);
}

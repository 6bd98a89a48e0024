import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button } from "../../../design/button.tsx";
import { DataTable } from "../../../design/data-table.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { FactList } from "../../../design/fact-list.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Section } from "../../../design/section.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { useToast } from "../../../design/toast.tsx";
import { formatMoment } from "../../../parts/format/format-time.ts";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { useSession } from "../../../parts/session/use-session.ts";
import { adminApi } from "../admin-api.ts";
import { useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import { AlarmStatus } from "./alarms-page.tsx";

type Doing = "acknowledge" | "silence";

/** An alarm with what happened to it and what was sent. */
export function AlarmPage() {
  const { id = "" } = useAdminPlace().params;
  const { data: alarm, error, refetch } = useTableQuery(adminQueries.adminAlarms.one(id));
  const { time_zone: timeZone } = useSession().account;
  const [doing, setDoing] = useState<Doing | null>(null);
  const parents = [{ to: "/console/admin/alarms", name: "Alarms" }];
  if (alarm === undefined) {
    return (
      <ConsoleFrame title="Alarm" parents={parents}>
        {error === null ? <Skeleton className="h-96" /> : <LoadFailure error={error} onRetry={() => void refetch()} />}
      </ConsoleFrame>
    );
  }
  const show = (time: string): string => formatMoment(time, timeZone);
  const isOpen = alarm.status !== "resolved";
  return (
    <ConsoleFrame
      title={alarm.title}
      intro={alarm.message}
      parents={parents}
      actions={
        isOpen && (
          <>
            {alarm.status !== "acknowledged" && (
              <Button look="primary" onClick={() => setDoing("acknowledge")}>
                Acknowledge
              </Button>
            )}
            <Button onClick={() => setDoing("silence")}>Silence</Button>
          </>
        )
      }
    >
      <FactList
        facts={[
          { name: "Status", value: <AlarmStatus status={alarm.status} /> },
          { name: "Subject", value: alarm.subject },
          { name: "Since", value: show(alarm.began_at) },
          { name: "Last met", value: show(alarm.met_at) },
          ...(alarm.silenced_until === null ? [] : [{ name: "Silenced until", value: show(alarm.silenced_until) }]),
          ...(alarm.ended_at === null ? [] : [{ name: "Ended", value: show(alarm.ended_at) }]),
          { name: "What to do", value: <code className="font-mono text-xs">{alarm.run_book ?? "-"}</code> },
        ]}
      />
      <Section title="History">
        <DataTable
          label="Changes"
          columns={[
            { name: "Time", cell: ({ at }) => <span className="text-ink-soft">{show(at)}</span> },
            { name: "Status", cell: ({ status }) => status },
            { name: "By", hasNames: true, cell: ({ actor }) => actor },
            { name: "Note", hasNames: true, cell: ({ note }) => note ?? "" },
          ]}
          rows={alarm.history}
          keyOf={({ at, event }) => `${at} ${event}`}
          empty={<p className="text-sm text-ink-soft">Nothing yet.</p>}
        />
      </Section>
      <Section title="Notifications">
        <DataTable
          label="Messages"
          columns={[
            { name: "Time", cell: ({ created_at: at }) => <span className="text-ink-soft">{show(at)}</span> },
            { name: "Channel", cell: ({ channel }) => channel },
            { name: "Status", cell: ({ status }) => status },
            { name: "Trouble", hasNames: true, isSecondary: true, cell: ({ trouble }) => trouble ?? "" },
          ]}
          rows={alarm.notifications}
          keyOf={({ created_at: at, channel }) => `${at} ${channel}`}
          empty={<p className="text-sm text-ink-soft">Nothing was sent.</p>}
        />
      </Section>
      {doing !== null && <ChangeDialog id={alarm.id} doing={doing} onClose={() => setDoing(null)} />}
    </ConsoleFrame>
  );
}

const spans = [
  { value: "1", label: "1 hour" },
  { value: "4", label: "4 hours" },
  { value: "24", label: "1 day" },
  { value: "168", label: "7 days" },
] as const;
const hourMs = 60 * 60_000;

function ChangeDialog({ id, doing, onClose }: { id: string; doing: Doing; onClose(): void }) {
  const [note, setNote] = useState("");
  const [hours, setHours] = useState("4");
  const refresh = useAdminRefresh();
  const showToast = useToast();
  const params = { path: { alarm_id: id } };
  const words = note.trim() === "" ? {} : { note: note.trim() };
  const send = () =>
    doing === "acknowledge"
      ? ask(adminApi.POST("/alarms/{alarm_id}/acknowledge", { params, body: words }))
      : ask(
          adminApi.POST("/alarms/{alarm_id}/silence", {
            params,
            body: { ...words, until: new Date(Date.now() + Number(hours) * hourMs).toISOString() },
          }),
        );
  const save = useAction(send, () => {
    showToast(doing === "acknowledge" ? "Alarm acknowledged." : "Alarm silenced.");
    void refresh("adminAlarms");
    onClose();
  });
  return (
    <Dialog title={doing === "acknowledge" ? "Acknowledge this alarm" : "Silence this alarm"} onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.run(undefined);
        }}
      >
        <FormError message={save.errorBeside("note", "until")} />
        <p className="text-sm text-ink-soft">
          {doing === "acknowledge"
            ? "Nothing more is sent until it ends."
            : "Nothing is sent until then. If the rule is still met, the alarm fires again."}
        </p>
        {doing === "silence" && (
          <SelectField label="For" options={spans} value={hours} onChange={setHours} error={save.errorAt("until")} />
        )}
        <TextField
          label="Note"
          name="note"
          maxLength={500}
          hint="For other operators. Optional."
          value={note}
          onChange={setNote}
          error={save.errorAt("note")}
        />
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={save.isBusy}>
            {doing === "acknowledge" ? "Acknowledge" : "Silence"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

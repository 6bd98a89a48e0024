import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { SelectField } from "../../../design/select-field.tsx";
import { adminApi } from "../admin-api.ts";
import { useAdminRefresh } from "../admin-query-table.ts";
import type { Upstream } from "../fetch-admin.ts";
import { ReasonDialog } from "../reason-dialog.tsx";

const ends = [
  { value: "", label: "Until an operator enables it" },
  { value: "30", label: "For 30 minutes" },
  { value: "120", label: "For 2 hours" },
  { value: "1440", label: "For a day" },
];

/** Takes a key, a route or a provider out of service, or puts it back. */
export function SwitchDialog({ upstream, onClose }: { upstream: Upstream; onClose(): void }) {
  const refresh = useAdminRefresh();
  const { switch: off, provider, upstream_model: model, key } = upstream;
  const subjects = [
    ...(key === null ? [] : [{ value: key, label: `The key ${key}` }]),
    { value: `${provider}/${model}`, label: `The route ${provider}/${model}` },
    { value: provider, label: `The provider ${provider}` },
  ];
  const [chosen, setChosen] = useState(subjects[0]?.value ?? provider);
  const [mode, setMode] = useState<"disabled" | "draining">("disabled");
  const [minutes, setMinutes] = useState("");
  const subject = off === null ? chosen : off.subject;
  return (
    <ReasonDialog
      title={off === null ? "Take out of service" : `Enable ${off.subject}?`}
      submitName={off === null ? (mode === "disabled" ? "Disable" : "Drain") : "Enable"}
      look={off === null ? "danger" : "primary"}
      fields={["ends_at"]}
      send={({ reason }) =>
        ask(
          adminApi.POST("/upstreams/switches", {
            body: {
              ...{ subject, mode: off === null ? mode : "enabled", reason },
              ...(off !== null || minutes === "" ? {} : { ends_at: addMinutes(Number(minutes)) }),
            },
          }),
        )
      }
      done={off === null ? `${subject} takes no new calls.` : `${subject} is back in service.`}
      onDone={() => void refresh("adminUpstreams")}
      onClose={onClose}
    >
      {off === null && (
        <>
          <SelectField label="What" options={subjects} value={chosen} onChange={setChosen} />
          <SelectField
            label="How"
            options={[
              { value: "disabled", label: "Disable: nothing new" },
              { value: "draining", label: "Drain: only tasks that were accepted before" },
            ]}
            value={mode}
            onChange={(value) => setMode(value === "draining" ? "draining" : "disabled")}
          />
          <SelectField label="How long" options={ends} value={minutes} onChange={setMinutes} />
        </>
      )}
      <p className="text-sm text-ink-soft">Every process follows within a second. Running calls end normally.</p>
    </ReasonDialog>
  );
}

function addMinutes(minutes: number): string {
  return new Date(Date.now() + minutes * 60_000).toISOString();
}

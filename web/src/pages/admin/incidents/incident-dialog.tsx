import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { Button } from "../../../design/button.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { TextArea } from "../../../design/text-area.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { useToast } from "../../../design/toast.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { adminApi } from "../admin-api.ts";
import { useAdminRefresh } from "../admin-query-table.ts";
import type { AdminIncident } from "../fetch-watch.ts";

const openStates = [
  { value: "investigating", label: "Investigating" },
  { value: "identified", label: "Identified" },
  { value: "monitoring", label: "Monitoring" },
] as const;
const states = [...openStates, { value: "resolved", label: "Resolved (final)" }] as const;

type OpenState = (typeof openStates)[number]["value"];
type State = (typeof states)[number]["value"];

type IncidentDialogProps = {
  /** `null` for a new one. */
  incident: AdminIncident | null;
  onClose(): void;
};

/** A new incident, or an update of an open one. */
export function IncidentDialog({ incident, onClose }: IncidentDialogProps) {
  const [title, setTitle] = useState(incident?.title ?? "");
  const [message, setMessage] = useState("");
  const [state, setState] = useState<State>(incident?.status ?? "investigating");
  const [models, setModels] = useState(incident?.models.join(", ") ?? "");
  const refresh = useAdminRefresh();
  const showToast = useToast();
  const save = useAction(
    () => {
      const ids = models.split(",").flatMap((id) => (id.trim() === "" ? [] : [id.trim()]));
      const words = { title, message, models: ids };
      return incident === null
        ? ask(adminApi.POST("/incidents", { body: { ...words, status: state as OpenState } }))
        : ask(
            adminApi.POST("/incidents/{incident_id}/updates", {
              params: { path: { incident_id: incident.id } },
              body: { ...words, status: state },
            }),
          );
    },
    () => {
      showToast(incident === null ? "Incident published." : "Update published.");
      void refresh("adminIncidents");
      onClose();
    },
  );
  return (
    <Dialog size="wide" title={incident === null ? "Write incident" : "Add update"} onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          save.run(undefined);
        }}
      >
        <FormError message={save.errorBeside("title", "message", "models", "status")} />
        <TextField
          label="Title"
          name="title"
          maxLength={200}
          required
          value={title}
          onChange={setTitle}
          error={save.errorAt("title")}
        />
        <SelectField
          label="Status"
          options={incident === null ? openStates : states}
          value={state}
          onChange={(value) => setState(states.find((one) => one.value === value)?.value ?? "investigating")}
          error={save.errorAt("status")}
        />
        <TextArea
          label="Message"
          name="message"
          maxLength={5000}
          required
          hint="Customers read it. Name no upstream."
          value={message}
          onChange={setMessage}
          error={save.errorAt("message")}
        />
        <TextField
          label="Affected models"
          name="models"
          hint="IDs, comma-separated. Empty: the whole service."
          value={models}
          onChange={setModels}
          error={save.errorAt("models")}
        />
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={save.isBusy}>
            Publish
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

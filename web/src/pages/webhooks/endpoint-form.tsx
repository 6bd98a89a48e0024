import type { Endpoint, EventType } from "../../api/fetch-webhooks.ts";
import { Button } from "../../design/button.tsx";
import { CheckList } from "../../design/check-list.tsx";
import { TextField } from "../../design/text-field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useFormDraft } from "../../parts/forms/use-form-draft.ts";
import { eventNames } from "./endpoint-labels.ts";

type EndpointBody = { url: string; description: string; event_types: EventType[] };

type EndpointFormProps = {
  /** `null` for a new endpoint. */
  endpoint: Endpoint | null;
  submitName: string;
  send(body: EndpointBody): Promise<Endpoint>;
  onDone(endpoint: Endpoint): void;
  onGivenUp(): void;
};

/** The draft is stored until saved or canceled. */
export function EndpointForm({ endpoint, submitName, send, onDone, onGivenUp }: EndpointFormProps) {
  const { values, change, forget } = useFormDraft(`webhook:${endpoint?.id ?? "new"}`, {
    url: endpoint?.url ?? "",
    description: endpoint?.description ?? "",
    isLimited: (endpoint?.event_types.length ?? 0) > 0,
    eventTypes: endpoint?.event_types ?? [],
  });
  const action = useAction(
    () =>
      send({
        url: values.url.trim(),
        description: values.description.trim(),
        // The list offers only known types.
        event_types: values.isLimited ? (values.eventTypes as EventType[]) : [],
      }),
    (saved) => {
      forget();
      onDone(saved);
    },
  );
  const lacksEvents = values.isLimited && values.eventTypes.length === 0;
  return (
    <form
      noValidate
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        if (!lacksEvents) action.run(undefined);
      }}
    >
      <FormError message={action.errorBeside("url", "description", "event_types")} />
      <TextField
        type="url"
        label="URL"
        name="url"
        maxLength={2048}
        placeholder="https://example.com/webhooks"
        autoComplete="off"
        hint="Receives a POST for every event. It must return 2xx within 15 seconds."
        value={values.url}
        onChange={(url) => change({ url })}
        error={action.errorAt("url")}
      />
      <TextField
        label="Description"
        name="description"
        maxLength={500}
        autoComplete="off"
        hint="Optional."
        value={values.description}
        onChange={(description) => change({ description })}
        error={action.errorAt("description")}
      />
      <CheckList
        legend="Events"
        allLabel="All events, including future types"
        isLimited={values.isLimited}
        onLimit={(isLimited) => change({ isLimited })}
        options={Object.entries(eventNames).map(([value, hint]) => ({ value, label: value, hint }))}
        chosen={values.eventTypes}
        onChoose={(eventTypes) => change({ eventTypes })}
        error={lacksEvents ? "Choose at least one event, or all of them." : action.errorAt("event_types")}
      />
      <div className="flex flex-wrap justify-end gap-3">
        <Button
          onClick={() => {
            forget();
            onGivenUp();
          }}
        >
          Cancel
        </Button>
        <Button look="primary" type="submit" isBusy={action.isBusy}>
          {submitName}
        </Button>
      </div>
    </form>
  );
}

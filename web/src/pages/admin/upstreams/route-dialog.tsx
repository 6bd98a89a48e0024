import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { Button } from "../../../design/button.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { adminApi } from "../admin-api.ts";
import { ApplyDialog } from "../catalog/apply-dialog.tsx";
import { DiffView } from "../catalog/diff-view.tsx";
import { getCatalog, type Upstream } from "../fetch-admin.ts";

type RouteDialogProps = { upstream: Upstream; onClose(): void };
type Review = { before: string; after: string; version: number };

const fields = ["model", "provider", "upstream_model", "priority", "weight"];

/** Changes the priority and weight of a route: an edit of the catalog, shown before it is applied. */
export function RouteDialog({ upstream, onClose }: RouteDialogProps) {
  const { provider, upstream_model: upstreamModel, models } = upstream;
  const [id, setId] = useState(models[0]?.id ?? "");
  const route = models.find((model) => model.id === id);
  const [priority, setPriority] = useState(String(route?.priority ?? 0));
  const [weight, setWeight] = useState(String(route?.weight ?? 1));
  const [review, setReview] = useState<Review | null>(null);
  const edit = useAction(async (): Promise<Review> => {
    const active = await getCatalog();
    const route = { model: id, provider, upstream_model: upstreamModel };
    const body = {
      catalog: active.catalog,
      edit: { kind: "set_route" as const, ...route, priority: readNumber(priority), weight: readNumber(weight) },
    };
    const edited = await ask(adminApi.POST("/catalog/edits", { body }));
    return { before: active.catalog, after: edited.catalog, version: active.version };
  }, setReview);
  const errorAt = (field: string) => edit.errorAt(`edit.${field}`) ?? edit.errorAt(field);
  if (review !== null) {
    return (
      <ApplyDialog
        title={`Apply the change of ${id}`}
        catalog={review.after}
        baseVersion={review.version}
        onApplied={onClose}
        onClose={onClose}
      >
        <DiffView before={review.before} after={review.after} />
      </ApplyDialog>
    );
  }
  return (
    <Dialog title="Change priority and weight" onClose={onClose}>
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          edit.run(undefined);
        }}
      >
        <FormError message={edit.errorBeside(...fields.flatMap((name) => [name, `edit.${name}`]))} />
        <p className="text-sm">
          The route to <code className="font-mono text-xs wrap-anywhere">{`${provider}/${upstreamModel}`}</code>, with
          all its keys.
        </p>
        {models.length > 1 ? (
          <SelectField
            label="Of the model"
            options={models.map((model) => ({ value: model.id, label: model.id }))}
            value={id}
            onChange={(chosen) => {
              const other = models.find((model) => model.id === chosen);
              setId(chosen);
              setPriority(String(other?.priority ?? 0));
              setWeight(String(other?.weight ?? 1));
            }}
          />
        ) : (
          <p className="text-sm">
            Of the model <code className="font-mono text-xs">{id}</code>.
          </p>
        )}
        <TextField
          label="Priority"
          name="priority"
          inputMode="numeric"
          hint="0 to 1000. The lowest is tried first."
          value={priority}
          onChange={setPriority}
          error={errorAt("priority")}
        />
        <TextField
          label="Weight"
          name="weight"
          inputMode="numeric"
          hint="1 to 1000. Routes of one priority share the load by weight."
          value={weight}
          onChange={setWeight}
          error={errorAt("weight")}
        />
        <div className="flex flex-wrap justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" isBusy={edit.isBusy}>
            Review the change
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Text that is no number is sent as one out of range, so that the server names the field. */
function readNumber(text: string): number {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text.trim()) : -1;
}

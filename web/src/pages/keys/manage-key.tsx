import { useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { ApiKey, NewApiKey } from "../../api/fetch-keys.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { SelectField } from "../../design/select-field.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { TextField } from "../../design/text-field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { KeyFacts } from "./key-facts.tsx";
import { fillKeyValues, type KeyBody, listKeyChanges, readKeyValues } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";
import { isEnded } from "./key-labels.ts";

export type KeyDeed = "edit" | "rotate" | "revoke";

type ManageKeyProps = {
  id: string;
  /** `null` while viewing. */
  deed: KeyDeed | null;
  onDeed(deed: KeyDeed | null): void;
  onChanged(sentence: string): void;
  onMade(made: NewApiKey): void;
  onClose(): void;
};

const titles: Readonly<Record<KeyDeed, string>> = { edit: "Edit", rotate: "Rotate", revoke: "Revoke" };

export function ManageKey({ id, deed, onClose, ...rest }: ManageKeyProps) {
  const key = useTableQuery(queryTable.keys.one(id));
  const name = key.data?.name ?? "Key";
  return (
    <Dialog
      key={deed ?? "facts"}
      title={deed === null ? name : `${titles[deed]} ${name}`}
      size={deed === null || deed === "edit" ? "wide" : "narrow"}
      onClose={onClose}
    >
      {key.data !== undefined && <KeyView apiKey={key.data} deed={deed} onClose={onClose} {...rest} />}
      {key.data === undefined && key.error === null && <Skeleton className="h-96" />}
      {key.data === undefined && key.error !== null && (
        <>
          <LoadFailure title="Could not load this key." error={key.error} onRetry={() => void key.refetch()} />
          <Button onClick={onClose}>Close</Button>
        </>
      )}
    </Dialog>
  );
}

type KeyViewProps = Omit<ManageKeyProps, "id"> & { apiKey: ApiKey };

function KeyView({ apiKey, deed, onDeed, onChanged, onMade, onClose }: KeyViewProps) {
  const { time_zone: timeZone } = useSession().account;
  const back = () => onDeed(null);
  const over = isEnded(apiKey, new Date());
  if (deed === "edit" && !over) return <EditKey apiKey={apiKey} onGivenUp={back} onChanged={onChanged} />;
  if (deed === "rotate" && !over) return <RotateKey apiKey={apiKey} onMade={onMade} onGivenUp={back} />;
  if (deed === "revoke" && !over) {
    return <RevokeKey apiKey={apiKey} onRevoked={() => onChanged("Key revoked.")} onGivenUp={back} />;
  }
  return (
    <>
      <KeyFacts apiKey={apiKey} timeZone={timeZone} />
      <div className="flex flex-wrap gap-3">
        {!over && <Button onClick={() => onDeed("edit")}>Edit</Button>}
        {!over && apiKey.kind === "secret" && <Button onClick={() => onDeed("rotate")}>Rotate</Button>}
        {!over && apiKey.kind !== "console" && (
          <Button look="danger" onClick={() => onDeed("revoke")}>
            Revoke
          </Button>
        )}
        <Button className="ml-auto" onClick={onClose}>
          Close
        </Button>
      </div>
    </>
  );
}

type EditKeyProps = { apiKey: ApiKey; onChanged(sentence: string): void; onGivenUp(): void };

function EditKey({ apiKey, onChanged, onGivenUp }: EditKeyProps) {
  const { time_zone: timeZone } = useSession().account;
  const repeat = useReauthentication();
  const initial = fillKeyValues(apiKey);
  const save = async (body: KeyBody): Promise<void> => {
    const before = readKeyValues(initial, { now: new Date(), timeZone }).body;
    const changes = before === null ? body : listKeyChanges(before, body);
    if (Object.keys(changes).length === 0) return;
    await repeat(() => ask(api.PATCH("/keys/{id}", { params: { path: { id: apiKey.id } }, body: changes })));
  };
  return (
    <KeyForm
      apiKey={apiKey}
      initial={initial}
      submitName="Save"
      send={save}
      onDone={() => onChanged("Key updated. Changes apply within a second.")}
      onGivenUp={onGivenUp}
    />
  );
}

const overlaps = [
  { value: "0", label: "Immediately" },
  { value: "10", label: "In 10 minutes" },
  { value: "60", label: "In an hour" },
  { value: "1440", label: "In 24 hours" },
] as const;

type RotateKeyProps = { apiKey: ApiKey; onMade(made: NewApiKey): void; onGivenUp(): void };

function RotateKey({ apiKey: { id }, onMade, onGivenUp }: RotateKeyProps) {
  const [overlap, setOverlap] = useState("0");
  const repeat = useReauthentication();
  const rotate = useAction(
    () =>
      repeat(() =>
        ask(api.POST("/keys/{id}/rotate", { params: { path: { id } }, body: { overlap_minutes: Number(overlap) } })),
      ),
    onMade,
  );
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        rotate.run(undefined);
      }}
    >
      <p className="text-sm text-ink-soft">
        Creates a new key with the same name and limits; its budget starts over. Keep the old key valid for a while if
        its programs cannot switch at once. If it has leaked, expire it immediately.
      </p>
      <FormError message={rotate.errorBeside()} />
      <SelectField label="Old key expires" name="overlap" options={overlaps} value={overlap} onChange={setOverlap} />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onGivenUp}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={rotate.isBusy}>
          Create new key
        </Button>
      </div>
    </form>
  );
}

type RevokeKeyProps = { apiKey: ApiKey; onRevoked(): void; onGivenUp(): void };

/** Irreversible, so the user types the key's name. */
function RevokeKey({ apiKey: { id, name, kind }, onRevoked, onGivenUp }: RevokeKeyProps) {
  const [typed, setTyped] = useState("");
  const [hasMissed, setMissed] = useState(false);
  const revoke = useAction(() => ask(api.DELETE("/keys/{id}", { params: { path: { id } } })), onRevoked);
  const isRight = typed.trim() === name;
  return (
    <form
      noValidate
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        setMissed(!isRight);
        if (isRight) revoke.run(undefined);
      }}
    >
      <p className="text-sm text-ink-soft">
        {kind === "client"
          ? "The program is disconnected and its calls are refused. Connect it again to issue another key."
          : "Calls with this key are refused. This cannot be undone."}{" "}
        Its past charges stay in your statement.
      </p>
      <FormError message={revoke.errorBeside()} />
      <TextField
        label={`Type ${name} to confirm`}
        name="confirmation"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={setTyped}
        error={hasMissed && !isRight ? `Type the key’s name exactly: ${name}` : null}
      />
      <div className="flex flex-wrap justify-end gap-3">
        <Button onClick={onGivenUp}>Cancel</Button>
        <Button look="danger" type="submit" isBusy={revoke.isBusy}>
          Revoke key
        </Button>
      </div>
    </form>
  );
}

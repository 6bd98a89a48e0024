import type { ApiKey, NewApiKey } from "../../api/ask-keys.ts";
import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { Dialog } from "../../design/dialog.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { useReauthentication } from "../../parts/session/reauthentication.tsx";
import { useSession } from "../../parts/session/use-session.ts";
import { KeyFacts } from "./key-facts.tsx";
import { fillKeyValues, type KeyBody, listKeyChanges, readKeyValues } from "./key-fields.ts";
import { KeyForm } from "./key-form.tsx";
import { isEnded } from "./key-words.ts";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

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

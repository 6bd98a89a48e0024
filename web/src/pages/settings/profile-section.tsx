import { useId, useMemo } from "react";
import { api, ask } from "../../api/console-api.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Button } from "../../design/button.tsx";
import { Card } from "../../design/card.tsx";
import { TextField } from "../../design/text-field.tsx";
import { useToast } from "../../design/toast.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { useFormDraft } from "../../parts/forms/use-form-draft.ts";
import { useSession } from "../../parts/session/use-session.ts";

export function ProfileSection() {
  const { user, account } = useSession();
  const answers = useQueryCache();
  const showToast = useToast();
  const initial = { name: user.name ?? "", timeZone: account.time_zone };
  const { values, change, forget } = useFormDraft("profile", initial);
  const restore = (before: typeof initial) =>
    ask(api.PATCH("/account", { body: { name: before.name, time_zone: before.timeZone } })).then(
      (session) => {
        answers.write(queryTable.session.current(), session);
        change(before);
        showToast("Profile restored.");
        return answers.refresh("account");
      },
      (error: Error) => showToast(`Could not undo: ${error.message}`),
    );
  const save = useAction(
    async () => {
      const body = {
        ...(values.name.trim() === initial.name ? {} : { name: values.name.trim() }),
        ...(values.timeZone.trim() === initial.timeZone ? {} : { time_zone: values.timeZone.trim() }),
      };
      if (Object.keys(body).length === 0) return null;
      return { session: await ask(api.PATCH("/account", { body })), before: initial };
    },
    (saved) => {
      forget();
      if (saved === null) return showToast("Profile saved.");
      answers.write(queryTable.session.current(), saved.session);
      showToast("Profile saved.", () => restore(saved.before));
      return answers.refresh("account");
    },
  );
  return (
    <Card title="Profile" intro={`You sign in as ${user.email}.`}>
      <form
        noValidate
        className="flex max-w-md flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          save.run(undefined);
        }}
      >
        <FormError message={save.errorBeside("name", "time_zone")} />
        <TextField
          label="Name"
          name="name"
          autoComplete="name"
          maxLength={100}
          value={values.name}
          onChange={(name) => change({ name })}
          error={save.errorAt("name")}
        />
        <TimeZoneField
          value={values.timeZone}
          onChange={(timeZone) => change({ timeZone })}
          error={save.errorAt("time_zone")}
        />
        <div>
          <Button type="submit" isBusy={save.isBusy}>
            Save profile
          </Button>
        </div>
      </form>
    </Card>
  );
}

type TimeZoneFieldProps = { value: string; onChange(value: string): void; error: string | null };

/** Searchable list of the browser's time zones. */
function TimeZoneField({ value, onChange, error }: TimeZoneFieldProps) {
  const listId = useId();
  const zones = useMemo(() => [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])], []);
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <div className="flex flex-col items-start gap-1">
      <div className="w-full">
        <TextField
          label="Time zone"
          name="time_zone"
          list={listId}
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          hint="Sets when your days, bills and charts begin. Type a city to find its zone."
          value={value}
          onChange={onChange}
          error={error}
        />
        <datalist id={listId}>
          {zones.map((zone) => (
            <option key={zone} value={zone} />
          ))}
        </datalist>
      </div>
      {own !== value && (
        <Button look="quiet" className="-ml-2" onClick={() => onChange(own)}>
          Use {own} (browser time zone)
        </Button>
      )}
    </div>
  );
}

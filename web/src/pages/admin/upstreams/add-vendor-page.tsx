import { useState } from "react";
import { ask } from "../../../api/console-api.ts";
import { useTableQuery } from "../../../api/use-table-query.ts";
import { Button, buttonClasses } from "../../../design/button.tsx";
import { CheckField } from "../../../design/check-field.tsx";
import { LoadFailure } from "../../../design/load-failure.tsx";
import { Notice } from "../../../design/notice.tsx";
import { PasswordField } from "../../../design/password-field.tsx";
import { Section } from "../../../design/section.tsx";
import { SelectField } from "../../../design/select-field.tsx";
import { Skeleton } from "../../../design/skeleton.tsx";
import { TextField } from "../../../design/text-field.tsx";
import { FormError } from "../../../parts/forms/form-error.tsx";
import { useAction } from "../../../parts/forms/use-action.ts";
import { ConsoleFrame } from "../../../parts/frame/console-frame.tsx";
import { useReauthentication } from "../../../parts/session/reauthentication.tsx";
import { adminApi } from "../admin-api.ts";
import { AdminLink, useAdminPlace } from "../admin-place.tsx";
import { adminQueries, useAdminRefresh } from "../admin-query-table.ts";
import { ApplyDialog } from "../catalog/apply-dialog.tsx";
import { DiffView } from "../catalog/diff-view.tsx";
import type { Vendor } from "../fetch-admin.ts";
import { CheckLines } from "./check-lines.tsx";
import { describeFailure } from "./secrets-section.tsx";

/** Vendor, key, models, preview, apply: without a file. */
export function AddVendorPage() {
  const { search, change } = useAdminPlace();
  const vendors = useTableQuery(adminQueries.adminUpstreams.vendors());
  const vendor = vendors.data?.data.find(({ id }) => id === search.vendor);
  return (
    <ConsoleFrame
      title="Add a vendor"
      intro="Choose a vendor, check its key, choose models and prices, and apply."
      parents={[{ to: "/console/admin/upstreams", name: "Upstreams" }]}
    >
      {vendors.data === undefined ? (
        vendors.error === null ? (
          <Skeleton className="h-96" />
        ) : (
          <LoadFailure error={vendors.error} onRetry={() => void vendors.refetch()} />
        )
      ) : (
        <div className="flex max-w-3xl flex-col gap-8">
          <SelectField
            label="Vendor"
            options={[
              { value: "", label: "Choose a vendor" },
              ...vendors.data.data.map(({ id }) => ({ value: id, label: id })),
            ]}
            value={vendor?.id ?? ""}
            onChange={(id) => change({ vendor: id })}
          />
          {vendor !== undefined && <AddVendor key={vendor.id} vendor={vendor} />}
        </div>
      )}
    </ConsoleFrame>
  );
}

function AddVendor({ vendor }: { vendor: Vendor }) {
  const [baseUrl, setBaseUrl] = useState("");
  const [stored, setStored] = useState<ReadonlySet<string>>(new Set());
  const secrets = useTableQuery(adminQueries.adminUpstreams.secrets());
  const known = new Set((secrets.data?.data ?? []).flatMap(({ id, source }) => (source === "missing" ? [] : [id])));
  const isReady = vendor.secrets.every((name) => stored.has(name) || known.has(name));
  return (
    <>
      <TextField
        label="Base URL (optional)"
        name="base_url"
        placeholder={vendor.base_url ?? ""}
        hint="Only for a proxy or another region. Over http:// the key is not encrypted."
        value={baseUrl}
        onChange={setBaseUrl}
      />
      {vendor.secrets.map((name) => (
        <StoreKey
          key={name}
          {...{ name, vendor: vendor.id, baseUrl }}
          isKnown={known.has(name)}
          onStored={() => setStored(new Set([...stored, name]))}
        />
      ))}
      {isReady && <ChooseModels vendor={vendor} baseUrl={baseUrl.trim()} />}
    </>
  );
}

type KeyProps = { name: string; vendor: string; baseUrl: string; isKnown: boolean; onStored(): void };
type Checks = { check: string; ok: boolean; message: string; remedy: string | null }[];

function StoreKey({ name, vendor, baseUrl, isKnown, onStored }: KeyProps) {
  const [value, setValue] = useState("");
  const [checks, setChecks] = useState<Checks>([]);
  const repeat = useReauthentication();
  const refresh = useAdminRefresh();
  const store = useAction(
    () =>
      repeat(() =>
        ask(
          adminApi.POST("/secrets", {
            body: {
              ...{ name, value: value.trim(), vendor, reason: `Add the vendor ${vendor}` },
              ...(baseUrl.trim() === "" ? {} : { base_url: baseUrl.trim() }),
            },
          }),
        ),
      ),
    ({ version, checks: found }) => {
      setChecks(found);
      if (version === null) return;
      setValue("");
      onStored();
      void refresh("adminUpstreams", "adminSetup");
    },
  );
  const isRefused = checks.some(({ ok }) => !ok);
  return (
    <Section title="Key" intro="Sluice asks the vendor before it stores the key. No page shows it again.">
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          store.run(undefined);
        }}
      >
        <FormError message={store.errorBeside("value")} />
        <PasswordField
          label={name}
          name="value"
          autoComplete="off"
          value={value}
          onChange={setValue}
          error={store.errorAt("value")}
        />
        <div className="flex flex-wrap items-center gap-3">
          <Button look="primary" type="submit" isBusy={store.isBusy} isDisabled={value.trim() === ""}>
            Check and store
          </Button>
          {isKnown && <span className="text-sm text-ink-soft">A key is stored already. You can keep it.</span>}
        </div>
      </form>
      <div aria-live="polite" className="flex flex-col gap-3">
        {checks.length > 0 && (
          <>
            <Notice
              kind={isRefused ? "error" : "success"}
              title={isRefused ? describeFailure(checks) : `${name} is stored.`}
            />
            <CheckLines checks={checks} />
          </>
        )}
      </div>
    </Section>
  );
}

type Preview = { catalog: string; base: string; version: number };

function ChooseModels({ vendor, baseUrl }: { vendor: Vendor; baseUrl: string }) {
  const active = useTableQuery(adminQueries.adminCatalog.active());
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [markup, setMarkup] = useState("1");
  const [preview, setPreview] = useState<Preview | null>(null);
  const [isApplying, setApplying] = useState(false);
  const [isApplied, setApplied] = useState(false);
  const draft = useAction(async (): Promise<Preview> => {
    const { data } = active;
    if (data === undefined) throw new Error("The active catalog could not be loaded. Try again.");
    const edited = await ask(
      adminApi.POST("/catalog/vendors", {
        body: {
          ...{ catalog: data.catalog, vendor: vendor.id, models: [...chosen], markup: markup.trim() },
          ...(baseUrl === "" ? {} : { base_url: baseUrl }),
        },
      }),
    );
    return { catalog: edited.catalog, base: data.catalog, version: data.version };
  }, setPreview);
  const toggle = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
    setPreview(null);
  };
  if (isApplied) {
    return (
      <Notice kind="success" title={`${vendor.id} is live.`}>
        <AdminLink to="upstreams" className="underline">
          See it among the upstreams
        </AdminLink>
      </Notice>
    );
  }
  return (
    <Section
      title="Models and prices"
      intro="Prices are suggested ones: the vendor's costs with a margin. Check them before you sell."
    >
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          draft.run(undefined);
        }}
      >
        <FormError message={draft.errorBeside("markup")} />
        <fieldset className="flex max-h-96 flex-col gap-3 overflow-y-auto rounded-md border border-line p-4">
          <legend className="px-1 text-sm font-medium">Models</legend>
          {vendor.models.map(({ id, name, type, price }) => (
            <CheckField
              key={id}
              label={`${name} (${type})`}
              isChecked={chosen.has(id)}
              onChange={(isChosen) => toggle(id, isChosen)}
              hint={price ?? "has its own price list"}
            />
          ))}
        </fieldset>
        <TextField
          label="Your prices: the suggested ones times"
          name="markup"
          inputMode="decimal"
          value={markup}
          onChange={(value) => {
            setMarkup(value);
            setPreview(null);
          }}
          error={draft.errorAt("markup")}
        />
        <div className="flex flex-wrap gap-3">
          <Button look="primary" type="submit" isBusy={draft.isBusy} isDisabled={chosen.size === 0}>
            Preview
          </Button>
          <AdminLink to="catalog" className={buttonClasses("plain")}>
            Open the catalog instead
          </AdminLink>
        </div>
      </form>
      {preview !== null && (
        <>
          <DiffView before={preview.base} after={preview.catalog} />
          <div>
            <Button look="primary" onClick={() => setApplying(true)}>
              Apply
            </Button>
          </div>
        </>
      )}
      {isApplying && preview !== null && (
        <ApplyDialog
          catalog={preview.catalog}
          baseVersion={preview.version}
          onApplied={() => setApplied(true)}
          onClose={() => setApplying(false)}
        />
      )}
    </Section>
  );
}

import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CheckList } from "../../design/check-list.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { formatCount } from "../../parts/format/format-money.ts";
import type { KeyFieldProps } from "./key-fields.ts";
import { endpointNames, type LimitName, limitNames } from "./key-words.ts";

export function RestrictionFields({ values, change, errorAt }: KeyFieldProps) {
  const { data: models } = useTableQuery(queryTable.models.list());
  // List selected models that no longer exist, so they can be unchecked.
  const modelIds = new Set([...(models?.data ?? []).map(({ id }) => id), ...values.models]);
  return (
    <>
      <CheckList
        legend="Models"
        allLabel="All models of the account"
        isLimited={values.isModelsLimited}
        onLimit={(isModelsLimited) => change({ isModelsLimited })}
        options={[...modelIds].map((id) => ({ value: id, label: id }))}
        chosen={values.models}
        onChoose={(chosen) => change({ models: chosen })}
        error={errorAt("models")}
      />
      <CheckList
        legend="Endpoints"
        allLabel="All endpoints"
        isLimited={values.isEndpointsLimited}
        onLimit={(isEndpointsLimited) => change({ isEndpointsLimited })}
        options={Object.entries(endpointNames).map(([value, label]) => ({ value, label }))}
        chosen={values.endpoints}
        onChoose={(endpoints) => change({ endpoints })}
        error={errorAt("endpoints")}
      />
      <TextArea
        label="Addresses"
        name="addresses"
        rows={2}
        maxLength={10_000}
        placeholder="Any address"
        spellCheck={false}
        className="font-mono text-sm"
        hint="IP addresses or networks such as 203.0.113.0/24, one per line. Leave empty to allow any address."
        value={values.addresses}
        onChange={(addresses) => change({ addresses })}
        error={errorAt("addresses")}
      />
    </>
  );
}

/** Rate limits. The account's limits apply as well. */
export function LimitFields({ values, change, errorAt }: KeyFieldProps) {
  const { data: account } = useTableQuery(queryTable.account.own());
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {Object.entries(limitNames).map(([name, label]) => {
        // Object.entries widens the names.
        const limit = name as LimitName;
        return (
          <TextField
            key={name}
            label={label}
            name={name}
            inputMode="numeric"
            autoComplete="off"
            maxLength={12}
            placeholder={account === undefined ? "" : `Account limit: ${formatCount(account.limits[limit])}`}
            value={values[limit]}
            onChange={(text) => change({ [limit]: text })}
            error={errorAt(`limits.${name}`)}
          />
        );
      })}
    </div>
  );
}

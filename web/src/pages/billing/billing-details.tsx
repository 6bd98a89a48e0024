import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/console-api.ts";
import type { BillingDetails } from "../../api/fetch-spending.ts";
import { queryTable } from "../../api/query-table.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Button } from "../../design/button.tsx";
import { LoadFailure } from "../../design/load-failure.tsx";
import { Notice } from "../../design/notice.tsx";
import { Section } from "../../design/section.tsx";
import { Skeleton } from "../../design/skeleton.tsx";
import { TextArea } from "../../design/text-area.tsx";
import { TextField } from "../../design/text-field.tsx";
import { FormError } from "../../parts/forms/form-error.tsx";
import { useAction } from "../../parts/forms/use-action.ts";
import { DocumentList } from "./document-list.tsx";

/** Absent unless the operator issues documents. */
export function DocumentsSection() {
  const details = useTableQuery(queryTable.billingDetails.own());
  if (details.error !== null && details.data === undefined) {
    return <LoadFailure error={details.error} onRetry={() => void details.refetch()} />;
  }
  if (details.data === undefined) return <Skeleton className="h-64" />;
  if (!details.data.has_documents) return null;
  return (
    <>
      <DocumentList />
      <Section
        title="Billing details"
        intro="Shown on later invoices and statements. Documents that were issued don't change."
      >
        <DetailsForm details={details.data} />
      </Section>
    </>
  );
}

const fieldNames = ["legal_name", "address", "country", "tax_id", "purchase_order"] as const;
type FieldName = (typeof fieldNames)[number];

function DetailsForm({ details }: { details: BillingDetails }) {
  const answers = useQueryCache();
  const [texts, setTexts] = useState(() => readTexts(details));
  const [isSaved, setSaved] = useState(false);
  const save = useAction(
    (body: Record<FieldName, string | null>) => ask(api.PATCH("/billing_details", { body })),
    (next) => {
      answers.write(queryTable.billingDetails.own(), next);
      setTexts(readTexts(next));
      setSaved(true);
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setSaved(false);
    save.run(mapFields((name) => (texts[name].trim() === "" ? null : texts[name])));
  };
  const bind = (name: FieldName) => ({
    name: name.replace("_", "-"),
    value: texts[name],
    onChange: (text: string) => setTexts({ ...texts, [name]: text }),
    error: save.errorAt(name),
  });
  return (
    <form onSubmit={submit} noValidate className="flex max-w-2xl flex-col items-start gap-4">
      <div className="grid w-full gap-4 sm:grid-cols-2">
        <div className="sm:col-span-2">
          <TextField label="Legal name" autoComplete="organization" maxLength={200} {...bind("legal_name")} />
        </div>
        <div className="sm:col-span-2">
          <TextArea
            label="Address"
            autoComplete="street-address"
            maxLength={500}
            hint="Without the country."
            {...bind("address")}
          />
        </div>
        <TextField
          label="Country"
          autoComplete="country"
          autoCapitalize="characters"
          maxLength={2}
          placeholder="DE"
          hint="Two letters."
          {...bind("country")}
        />
        <TextField
          label="Tax id"
          autoComplete="off"
          autoCapitalize="characters"
          maxLength={40}
          hint="In the EU, your VAT number with its letters."
          {...bind("tax_id")}
        />
        <div className="sm:col-span-2">
          <TextField
            label="Purchase order"
            autoComplete="off"
            maxLength={100}
            hint="A reference of yours."
            {...bind("purchase_order")}
          />
        </div>
      </div>
      <FormError message={save.errorBeside(...fieldNames)} />
      {isSaved && <Notice kind="success" title="Billing details saved." />}
      <Button type="submit" isBusy={save.isBusy}>
        Save billing details
      </Button>
    </form>
  );
}

const readTexts = (details: BillingDetails) => mapFields((name) => details[name] ?? "");

function mapFields<T>(read: (name: FieldName) => T): Record<FieldName, T> {
  return {
    legal_name: read("legal_name"),
    address: read("address"),
    country: read("country"),
    tax_id: read("tax_id"),
    purchase_order: read("purchase_order"),
  };
}

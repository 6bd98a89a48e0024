import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { CheckField } from "../../design/check-field.tsx";
import type { KeyFieldProps } from "./key-fields.ts";
import { describeDays } from "./key-words.ts";

/** Hidden if the service stores no contents. */
export function KeyContentField({ values, change, errorAt }: KeyFieldProps) {
  const { data: site } = useTableQuery(queryTable.site.settings());
  const days = site?.content_log_days ?? 0;
  if (days === 0 && !values.logsContent) return null;
  const error = errorAt("content_log");
  return (
    <div className="flex flex-col gap-1">
      <CheckField
        name="content_log"
        label="Log request and response content"
        isChecked={values.logsContent}
        onChange={(logsContent) => change({ logsContent })}
        hint={`Stored encrypted for ${describeDays(days)}, with keys and passwords redacted. All users of this account can read it. So can API keys with access to all endpoints or “Contents of requests”.`}
      />
      {error !== null && (
        <p role="alert" className="pl-6.5 text-sm text-danger">
          {error}
        </p>
      )}
    </div>
  );
}

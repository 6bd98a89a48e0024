import { Link } from "@tanstack/react-router";
import type { OperationError } from "../../api/reference-document.ts";

/** Errors by status; each links to its explanation. */
export function ErrorTable({ errors }: { errors: readonly OperationError[] }) {
  const statuses = [...new Set(errors.map(({ status }) => status))];
  return (
    <dl className="flex flex-col divide-y divide-line text-sm">
      {statuses.map((status) => (
        <div key={status} className="grid grid-cols-[3rem_minmax(0,1fr)] gap-x-3 py-2.5">
          <dt className="font-mono text-xs leading-5 text-ink-soft">{status}</dt>
          <dd className="flex flex-col gap-2">
            {errors
              .filter((error) => error.status === status)
              .map(({ code, meaning }) => (
                <p key={code} className="text-ink-soft">
                  <Link
                    to="/docs/guide/$chapter"
                    params={{ chapter: "errors" }}
                    hash={code}
                    className="rounded-sm font-mono text-xs font-medium text-accent underline underline-offset-4 hover:text-accent-strong"
                  >
                    {code}
                  </Link>{" "}
                  {meaning}
                </p>
              ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
